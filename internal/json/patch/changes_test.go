package patch

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
)

func TestMerge(t *testing.T) {
	tests := []struct{ current, with, want string }{
		{`{"a":1,"b":2}`, `{"c":3,"a":4}`, `{"a":4,"b":2,"c":3}`},
		{`{"a":{"x":1}}`, `{"a":{"y":2}}`, `{"a":{"y":2}}`}, // shallow
		{`{"a":1}`, "{\n  \"b\": [ 1.0, \"x y\" ],\n  \"c.d\": null\n}\n", `{"a":1,"b":[1.0,"x y"],"c.d":null}`},
		{`{"a":1,"a":2}`, `{"\u0061":3,"\u00e9":"\u00e9"}`, `{"a":1,"a":3,"\u00e9":"\u00e9"}`},
		{`{}`, `{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
	}
	for _, tt := range tests {
		got, err := Merge([]byte(tt.current), []byte(tt.with))
		if err != nil || string(got) != tt.want {
			t.Errorf("Merge(%s, %s) = %s, %v, want %s", tt.current, tt.with, got, err, tt.want)
		}
	}
	for _, with := range []string{"", "[]", "null", `{"a":1`, `{"a":1}{"b":2}`, `{"a":01}`} {
		if got, err := Merge([]byte("{}"), []byte(with)); err == nil {
			t.Errorf("Merge(%s) = %s, no error", with, got)
		}
	}
	_, err := Merge([]byte("{}"), []byte("[1]"))
	if !errors.Is(err, rawjson.ErrNotObject) || !strings.Contains(err.Error(), "a list") {
		t.Errorf("Merge of a list: %v", err)
	}
	_, err = Merge([]byte("{}"), []byte("{\n  \"a\": x}"))
	damage, ok := errors.AsType[*jsonl.Damage](err)
	if !ok || damage.Line != 2 || damage.Column != 8 {
		t.Errorf("Merge of broken JSON: %+v, want 2:8", damage)
	}
}

func TestEdits(t *testing.T) {
	edit := func(raw string, edits ...Edit) ([]byte, error) { return (&Changes{Edits: edits}).Apply([]byte(raw)) }
	got, err := edit(`{"a":1,"b":2}`, []Edit{
		{Path: Path{"c.d"}, Value: []byte(" [ 1, 2 ] ")},
		{Path: Path{"a"}},
		{Path: Path{"a"}, Value: []byte(`"x y"`)},
		{Path: Path{"missing"}},
		{Path: Path{"b"}, Value: []byte("3")},
	}...)
	if string(got) != `{"b":3,"c.d":[1,2],"a":"x y"}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := edit(`{"a":"t"}`, Edit{Path: Path{"a", "x"}, Value: []byte("1")}); !errors.Is(err, ErrNoPlace) || !strings.HasPrefix(err.Error(), "/a/x: ") {
		t.Errorf("into a text: %v", err)
	}
}

// All that a call may ask is done in the order of the contract.
func TestChangesInOrder(t *testing.T) {
	c := Changes{
		Replace: []byte(`{ "a" : 0, "b":0, "c":0, "d":0, "e":0 }`), Merge: []byte(`{"b":1,"c":1,"d":1,"e":1}`),
		MergePatch: []byte(`{"c":2,"d":2,"e":2}`), Patch: []Operation{{Op: "replace", Path: Path{"d"}, Value: []byte("3")}, {Op: "replace", Path: Path{"e"}, Value: []byte("3")}},
		Edits: []Edit{{Path: Path{"e"}, Value: []byte("4")}},
	}
	if got, err := c.Apply([]byte(`{"old":1}`)); string(got) != `{"a":0,"b":1,"c":2,"d":3,"e":4}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestLeaveOut(t *testing.T) {
	list, err := ParseOperations([]byte(`[{"op":"remove","path":"/i"},{"op":"add","path":"/m/x","value":1},{"op":"move","from":"/i","path":"/a"},
		{"op":"copy","from":"/i","path":"/b"},{"op":"test","path":"/i","value":1},{"op":"replace","path":"/ii","value":2}]`))
	if err != nil {
		t.Fatal(err)
	}
	c := Changes{Merge: []byte(`{"y":1,"i":2}`), MergePatch: []byte(`{"i":1,"z":2,"i":null}`), Patch: list}
	if diff := cmp.Diff([]string{"m", "i"}, c.LeaveOut("m", "i")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var kept []string
	for _, o := range c.Patch {
		kept = append(kept, o.Op)
	}
	if diff := cmp.Diff([]string{"copy", "test", "replace"}, kept); diff != "" || string(c.MergePatch) != `{"z":2}` || string(c.Merge) != `{"y":1}` {
		t.Errorf("%s, %s (-want +got):\n%s", c.Merge, c.MergePatch, diff)
	}
	if len(list) != 6 || list[0].Op != "remove" {
		t.Error("the list that was given is another")
	}
	if none := (&Changes{}); len(none.LeaveOut("i")) > 0 || !none.Empty() {
		t.Errorf("of nothing: %+v", none)
	}
}

func TestParseValue(t *testing.T) {
	for in, want := range map[string]string{
		"":                    `""`,
		"5":                   "5",
		" 1.50 ":              "1.50",
		"-0":                  "-0",
		"01":                  `"01"`,
		"true":                "true",
		"True":                `"True"`,
		"null":                "null",
		`"a"`:                 `"a"`,
		`a "b"`:               `"a \"b\""`,
		"{ \"a\" : \"x y\" }": `{"a":"x y"}`,
		"[1,]":                `"[1,]"`,
		"a\nb":                `"a\nb"`,
		"<é>":                 `"<é>"`,
		"NaN":                 `"NaN"`,
		"[1]\n[2]":            `"[1]\n[2]"`,
		strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001): `"` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `"`,
	} {
		if got := string(ParseValue(in)); got != want {
			t.Errorf("ParseValue(%.40q) = %.40s, want %.40s", in, got, want)
		}
	}
}
