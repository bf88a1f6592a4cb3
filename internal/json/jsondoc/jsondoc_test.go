package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	A int     `json:"a"`
	B *string `json:"b"`
}

type raw []byte

func (r raw) MarshalJSON() ([]byte, error) { return r, nil }

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("no") }

type document struct {
	inner
	Text    string           `json:"text"`
	Plain   bool             // no tag
	Number  float64          `json:"number"`
	Left    string           `json:"-"`
	Empty   string           `json:"empty,omitempty"`
	Zero    int              `json:"zero,omitempty"`
	Nothing []int            `json:"nothing,omitempty"`
	Some    []inner          `json:"some,omitempty"`
	Inner   inner            `json:"inner,omitempty"` //nolint:modernize // the tag is what is tested
	None    []string         `json:"none"`
	List    []string         `json:"list"`
	Pointer *inner           `json:"pointer"`
	Any     any              `json:"any"`
	Map     map[string]inner `json:"map"`
	NoMap   map[string]int   `json:"no_map"`
	Bytes   []byte           `json:"bytes"`
	Raw     raw              `json:"raw"`
	Time    time.Time        `json:"time"`
	secret  string
}

// TestWrite holds that a document is what encoding/json makes of it.
func TestWrite(t *testing.T) {
	text := "a \"b\" \\ \n <&> é \ufffd"
	docs := []any{
		nil, 1, "x", text,
		[]int{},
		[]any{1, "a", nil},
		map[string]any{"b": 1, "a": []string{"x"}},
		map[int]string{1: "a"},
		document{Raw: raw("1"), None: []string{}, List: []string{}},
		&document{
			inner: inner{7, &text}, Text: text, Plain: true, Number: 1.5, Left: "l", Empty: "e", Zero: 1, Nothing: []int{1}, Some: []inner{{}},
			None: []string{}, List: []string{}, Pointer: &inner{1, nil}, Any: []any{inner{}}, Map: map[string]inner{"z": {}, "a": {}}, NoMap: map[string]int{},
			Bytes: []byte("ab"), Raw: raw(`{"k": 1.0}`), Time: time.Unix(0, 0).UTC(), secret: "s",
		},
	}
	for _, doc := range docs {
		for _, indent := range []string{"", "  "} {
			var want, got bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", indent)
			if err := enc.Encode(doc); err != nil {
				t.Fatal(err)
			}
			if err := Write(&got, doc, indent); err != nil {
				t.Errorf("%v: %v", doc, err)
			}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("%v (-want +got):\n%s", doc, diff)
			}
		}
	}
}

func TestWriteUnlikeStandard(t *testing.T) {
	tests := []struct {
		doc  any
		want string
	}{
		{map[string][]int{"a": nil}, `{"a":[]}`},
		{map[string]string{"a\xed\xb0\x80": "\xed\xa0\xbd!"}, `{"a\udc00":"\ud83d!"}`},
		{[]string{"\xf0\x9f\x98", "\xff\xfe"}, "[\"\ufffd\",\"\ufffd\ufffd\"]"},
		{raw("\"\xf0\x9f\x98 \\ud800\""), "\"\ufffd \\ud800\""},
		{"\x1b[2J \u202e \u2028 \x7f \u009b \U000e0041", `"\u001b[2J \u202e \u2028 \u007f \u009b \udb40\udc41"`},
	}
	for _, test := range tests {
		var got bytes.Buffer
		if err := Write(&got, test.doc, ""); err != nil {
			t.Errorf("%q: %v", test.doc, err)
		}
		if diff := cmp.Diff(test.want+"\n", got.String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.doc, diff)
		}
	}
	if err := Write(&bytes.Buffer{}, []any{failing{}}, ""); err == nil {
		t.Error("an error of a value is lost")
	}
}
