package meta

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
)

func TestIsHeader(t *testing.T) {
	for line, want := range map[string]bool{
		`{"chat_metadata":{}}`:                      true,
		`{"chat_metadata":null,"mes":"a"}`:          true,
		`{"chat_metadata":5}`:                       true,
		`{"chat\u005fmetadata":{}}`:                 true,
		`{"user_name":"a"}`:                         true,
		`{"character_name":null}`:                   true,
		`{"user_name":"a","mes":"b"}`:               false,
		`{"mes":"b","character_name":"a"}`:          false,
		`{"name":"a","mes":"b"}`:                    false,
		`{"name":"a"}`:                              false,
		`{}`:                                        false,
		`{"extra":{"chat_metadata":{}},"mes":"a"}`:  false,
		`{"x":"\"chat_metadata\":{}"}`:              false,
		`["chat_metadata"]`:                         false,
		`{"user_name":"a","chat_metadata":{"a":1}}`: true,
	} {
		if got := IsHeader([]byte(line)); got != want {
			t.Errorf("IsHeader(%s) = %v", line, got)
		}
	}
}

// put puts other metadata in place of a header's.
func put(h *Header, metadata string) {
	if err := h.Change(func([]byte) ([]byte, error) { return []byte(metadata), nil }); err != nil {
		panic(err)
	}
}

// A change that is none, fails, or makes the metadata anything but an object leaves the
// header alone.
func TestChange(t *testing.T) {
	const line = `{"user_name":"u","chat_metadata":{ "b":1.0 , "b":2 }}`
	failed := errors.New("failed")
	for _, tt := range []struct {
		to   string
		err  error
		want string
	}{
		{`{ "b":1.0 , "b":2 }`, nil, ""},
		{`{"c":1}`, failed, "failed"},
		{`[]`, nil, "the metadata would be a list, not an object"},
		{`{"c":`, nil, "the metadata would be damaged: "},
		{strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001), nil, "the metadata would be damaged: "},
	} {
		h, err := Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		err = h.Change(func(metadata []byte) ([]byte, error) { return []byte(tt.to), tt.err })
		if got := fmt.Sprint(err); err == nil && tt.want != "" || err != nil && (tt.want == "" || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%.40s: %v, want %q", tt.to, err, tt.want)
		}
		if got := string(h.Bytes()); got != line {
			t.Errorf("%.40s: the header becomes %s", tt.to, got)
		}
	}
}

func TestHeaderBytes(t *testing.T) {
	set := func(h *Header) { h.Metadata().Set("a", []byte("1")) }
	tests := []struct {
		name, line string
		edit       func(*Header)
		want       string
	}{
		{"no edit", ` {"user_name" : "u","chat_metadata":{ "b":1.0 , "b":2 }}`, func(*Header) {}, ` {"user_name" : "u","chat_metadata":{ "b":1.0 , "b":2 }}`},
		{"no edit, null", `{"chat_metadata":null}`, func(*Header) {}, `{"chat_metadata":null}`},
		{"no edit, missing", `{"user_name":"u"}`, func(*Header) {}, `{"user_name":"u"}`},
		{"edit", `{"user_name":"u" ,"chat_metadata":{ "b":1.0 , "b":2 },"z":[ 1 ]}`, set, `{"user_name":"u" ,"chat_metadata":{ "b":1.0 , "b":2,"a":1 },"z":[ 1 ]}`},
		{"null", `{"user_name":"u","chat_metadata":null}`, set, `{"user_name":"u","chat_metadata":{"a":1}}`},
		{"missing: first", `{"user_name":"u","character_name":"c"}`, set, `{"chat_metadata":{"a":1},"user_name":"u","character_name":"c"}`},
		{"repeated: the last", `{"chat_metadata":{"a":0},"chat_metadata":{"a":5}}`, set, `{"chat_metadata":{"a":0},"chat_metadata":{"a":1}}`},
		{"repeated, the last null", `{"chat_metadata":{"a":0},"chat_metadata":null}`, set, `{"chat_metadata":{"a":0},"chat_metadata":{"a":1}}`},
		{"unset all", `{"chat_metadata":{"a":0,"b":1,"\u0061":2}}`, func(h *Header) { h.Metadata().Unset("a") }, `{"chat_metadata":{"b":1}}`},
		{"replace", `{"chat_metadata":{"a":0,"b":1},"user_name":"u"}`, func(h *Header) {
			put(h, `{"c":1.0,"\u0064":"x y"}`)
			h.Metadata().Set("main_chat", []byte(`"m"`))
		}, `{"chat_metadata":{"c":1.0,"\u0064":"x y","main_chat":"m"},"user_name":"u"}`},
		{"replace by nothing", `{"chat_metadata":{"a":0},"user_name":"u"}`, func(h *Header) {
			put(h, "{}")
		}, `{"chat_metadata":{},"user_name":"u"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := Parse([]byte(tt.line))
			if err != nil {
				t.Fatal(err)
			}
			tt.edit(h)
			for range 2 { // asking again changes nothing
				if diff := cmp.Diff(tt.want, string(h.Bytes())); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestBadMetadata(t *testing.T) {
	for line, want := range map[string]struct {
		offset         int
		says, repaired string
	}{
		`{"user_name":"u","chat_metadata":"text","z":1}`: {33, "a string", `{"user_name":"u","chat_metadata":{},"z":1}`},
		`{"chat_metadata":{"a":1},"chat_metadata": [] }`: {42, "a list", `{"chat_metadata":{"a":1},"chat_metadata": {} }`},
		`{"chat_metadata":0}`:                            {17, "a number", `{"chat_metadata":{}}`},
		`{"chat_metadata":false}`:                        {17, "a boolean", `{"chat_metadata":{}}`},
	} {
		_, err := Parse([]byte(line))
		bad, ok := errors.AsType[*BadMetadataError](err)
		if !ok || bad.Offset != want.offset || !strings.Contains(bad.Error(), want.says) {
			t.Errorf("Parse(%s): %#v, want offset %d, %s", line, err, want.offset, want.says)
		}
		h := ParseLenient([]byte(line))
		if got := string(h.Bytes()); got != want.repaired || h.Metadata().Len() != 0 {
			t.Errorf("ParseLenient(%s) writes %s, want %s", line, got, want.repaired)
		}
	}
	if _, err := Parse([]byte("[]")); !errors.Is(err, rawjson.ErrNotObject) {
		t.Errorf("a list: %v", err)
	}
	for _, line := range []string{"", "5", `{"torn`} {
		if got, want := string(ParseLenient([]byte(line)).Bytes()), string(New().Bytes()); got != want {
			t.Errorf("ParseLenient(%s) writes %s", line, got)
		}
	}
	if got := string(ParseLenient([]byte(`{ "chat_metadata":null}`)).Bytes()); got != `{ "chat_metadata":null}` {
		t.Errorf("a fine line through ParseLenient: %s", got)
	}
}

func TestNew(t *testing.T) {
	h := New()
	if got := string(h.Bytes()); got != `{"chat_metadata":{},"user_name":"unused","character_name":"unused"}` {
		t.Errorf("New: %s", got)
	}
	h.Metadata().Set("main_chat", []byte(`"a"`))
	if got := string(h.Bytes()); got != `{"chat_metadata":{"main_chat":"a"},"user_name":"unused","character_name":"unused"}` {
		t.Errorf("edited: %s", got)
	}
}

func TestFieldsAreOpenToEdits(t *testing.T) {
	h, err := Parse([]byte(`{"user_name":"u","chat_metadata":{"a":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	h.Fields().Set("user_name", []byte(`"v"`))
	h.Metadata().Set("a", []byte("2"))
	if got := string(h.Bytes()); got != `{"user_name":"v","chat_metadata":{"a":2}}` {
		t.Error(got)
	}
}

// A checkpoint's header as SillyTavern 1.19.0 wrote it is its source's with
// main_chat and integrity merged in, to the byte.
func TestHeaderAsSillyTavernWritesIt(t *testing.T) {
	golden := filepath.Join("..", "..", "testdata", "golden")
	const source = "Mira - 2026-01-02@03h04m05s006ms"
	for scenario, chat := range map[string]string{
		"solo-checkpoint": "Point1",
		"solo-autoname":   source + " - Checkpoint #1",
		"solo-branch":     source + " - Branch #1",
	} {
		want := firstLine(t, filepath.Join(golden, scenario, "after", "chats", "Mira", chat+".jsonl"))
		h, err := Parse(firstLine(t, filepath.Join(golden, scenario, "before", "chats", "Mira", source+".jsonl")))
		if err != nil {
			t.Fatal(err)
		}
		slug, ok := rawjson.Lookup(want, "chat_metadata", "integrity")
		if !ok {
			t.Fatalf("%s: no integrity in %s", scenario, want)
		}
		with := []byte(`{"main_chat":"` + source + `","integrity":` + string(slug) + `}`)
		if err := h.Change(func(metadata []byte) ([]byte, error) { return patch.Merge(metadata, with) }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(h.Bytes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", scenario, diff)
		}
	}
}

func firstLine(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return []byte(line)
}

// FuzzHeader checks an edit against encoding/json: it reads back, nothing else
// of the metadata or the header changes, and the line stays one line.
func FuzzHeader(f *testing.F) {
	f.Add(`{"chat_metadata":{"a":1},"user_name":"unused","character_name":"unused"}`, "a.b", `{ "x" : 1 }`, "a")
	f.Add(`{"user_name":"u","chat_metadata":null}`, "a", "text", "b")
	f.Add(`{"chat_metadata":{"a":1},"chat_metadata":"x"}`, "", "1e5", "")
	f.Fuzz(func(t *testing.T, line, key, value, gone string) {
		var before map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &before) != nil || before == nil || strings.ContainsAny(line, "\n\r") {
			ParseLenient([]byte(line)).Bytes()
			return
		}
		key, gone = strings.ToValidUTF8(key, "?"), strings.ToValidUTF8(gone, "?")
		h := ParseLenient([]byte(line))
		raw := patch.ParseValue(value)
		if err := h.Change(func(metadata []byte) ([]byte, error) {
			return (&patch.Changes{Edits: []patch.Edit{{Path: patch.Path{gone}}, {Path: patch.Path{key}, Value: raw}}}).Apply(metadata)
		}); err != nil {
			t.Fatal(err)
		}
		out := h.Bytes()
		if strings.ContainsAny(string(out), "\n\r") || !jsonl.Valid(out) {
			t.Fatalf("%q", out)
		}
		var after, oldData, newData map[string]json.RawMessage
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(after[keyMetadata], &newData); err != nil {
			t.Fatal(err)
		}
		json.Unmarshal(before[keyMetadata], &oldData)
		if oldData == nil {
			oldData = map[string]json.RawMessage{}
		}
		// encoding/json reads a lone surrogate in a key as U+FFFD, we tell them apart.
		if strings.ContainsRune(key+gone, '\uFFFD') {
			return
		}
		delete(oldData, gone)
		oldData[key] = raw
		if diff := cmp.Diff(oldData, newData); diff != "" {
			t.Errorf("%q (-want +got):\n%s", out, diff)
		}
		delete(before, keyMetadata)
		delete(after, keyMetadata)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%q, header (-want +got):\n%s", out, diff)
		}
	})
}

// A header that is written has metadata, whether or not there is any.
func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		`{"user_name":"A"}`:                `{"chat_metadata":{},"user_name":"A"}`,
		`{"a":1,"chat_metadata": null }`:   `{"a":1,"chat_metadata": {} }`,
		`{"a":1, "chat_metadata":{"b":2}}`: `{"a":1, "chat_metadata":{"b":2}}`,
	} {
		h, err := Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		h.Complete()
		if got := string(h.Bytes()); got != want {
			t.Errorf("%s becomes %s, want %s", line, got, want)
		}
	}
}
