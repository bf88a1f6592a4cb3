package group

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl"
)

// pretty is a group file as SillyTavern writes it, with the value of chats put in.
func pretty(chats string) string {
	return "{\n    \"id\": \"1767322000000\",\n    \"name\": \"Pair\",\n    \"fav\": false,\n    \"chat_id\": \"A\",\n    \"chats\": " +
		chats + ",\n    \"auto_mode_delay\": 5\n}"
}

func mustParse(t *testing.T, raw string) *File {
	t.Helper()
	f, err := Parse("g.json", []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParse(t *testing.T) {
	type want struct {
		ID, Name, ChatID string
		Chats            []string
	}
	tests := []struct {
		name, raw string
		want      want
	}{
		{"as written", pretty("[\n        \"A\",\n        \"B\"\n    ]"), want{"1767322000000", "Pair", "A", []string{"A", "B"}}},
		{"the last of repeated keys", `{"id":"1","id":"2","chat_id":"x","chats":["a"],"\u0063hats":["b"]}`, want{"2", "", "x", []string{"b"}}},
		{"numbers", `{"id":1767322000000,"chat_id":12.0,"chats":[1767322000001]}`, want{"1767322000000", "", "12", []string{"1767322000001"}}},
		{"the oldest kind", `{"id":"7","name":"Old"}`, want{"7", "Old", "7", []string{"7"}}},
		{"null for both", `{"id":"7","chat_id":null,"chats":null}`, want{"7", "", "7", []string{"7"}}},
		{"no chats", `{"id":"7","chat_id":"c"}`, want{"7", "", "c", []string{"c"}}},
		{"no chat_id", `{"id":"7","chats":["a"]}`, want{"7", "", "7", []string{"a"}}},
		{"strange entries", `{"id":"7","chat_id":{},"chats":["a",null,{"a":1},["b"],true,"c"]}`, want{"7", "", "", []string{"a", "c"}}},
		{"chats is no list", `{"id":"7","chat_id":"c","chats":"c"}`, want{"7", "", "c", nil}},
		{"nothing at all", `{}`, want{}},
	}
	for _, tt := range tests {
		f := mustParse(t, tt.raw)
		if diff := cmp.Diff(tt.want, want{f.ID, f.Name, f.ChatID, f.Chats}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, raw := range []string{"", "[]", "null", `"x"`, "7", `{"chats":[`, "{}{}", "\ufeff{}", strings.Repeat("[", 1_000_000), `{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}"} {
		_, err := Parse("g.json", []byte(raw))
		if err == nil || !strings.HasPrefix(err.Error(), "g.json:") {
			t.Errorf("%.20q: error %v; want one that names the file", raw, err)
		}
	}
	_, err := Parse("g.json", []byte("{\n    \"id\": x\n}"))
	if damage := (*jsonl.LineError)(nil); !errors.As(err, &damage) || damage.Damage.Line != 2 || damage.Damage.Column != 11 {
		t.Errorf("error %v; want the damage's line and column", err)
	}
}

func TestLists(t *testing.T) {
	f := mustParse(t, `{"chats":["A","a:b","con",""]}`)
	for chat, want := range map[string]bool{"A": true, "a": false, "a:b": true, "ab": true, "con": true, "B": false} {
		if got := f.Lists(chat); got != want {
			t.Errorf("Lists(%q) = %v", chat, got)
		}
	}
}

func TestWithChats(t *testing.T) {
	const at2 = "\n        "
	tests := []struct {
		name, raw string
		add       []string
		want      string
	}{
		{"one", pretty("[" + at2 + "\"A\"\n    ]"), []string{"B"}, pretty("[" + at2 + "\"A\"," + at2 + "\"B\"\n    ]")},
		{
			"several", pretty("[" + at2 + "\"A\"\n    ]"),
			[]string{"B", "A", "C", "B"},
			pretty("[" + at2 + "\"A\"," + at2 + "\"B\"," + at2 + "\"C\"\n    ]"),
		},
		{"none that is new", pretty("[ \"A\" ]"), []string{"A"}, pretty("[ \"A\" ]")},
		{"nothing", pretty("[]"), nil, pretty("[]")},
		{"to an empty list", pretty("[]"), []string{"A", "B"}, pretty("[" + at2 + "\"A\"," + at2 + "\"B\"\n    ]")},
		{"to an empty list of two lines", pretty("[\n    ]"), []string{"A"}, pretty("[" + at2 + "\"A\"\n    ]")},
		{"compact", `{"chats":["A"],"id":"1"}`, []string{"B", "C"}, `{"chats":["A","B","C"],"id":"1"}`},
		{"compact and empty", `{"chats":[]}`, []string{"B"}, `{"chats":["B"]}`},
		{"tabs and CRLF", "{\r\n\t\"chats\": []\r\n}\r\n", []string{"A", "B"}, "{\r\n\t\"chats\": [\r\n\t\t\"A\",\r\n\t\t\"B\"\r\n\t]\r\n}\r\n"},
		{"tabs and CRLF, not empty", "{\r\n\t\"chats\": [\r\n\t\t\"A\"\r\n\t]\r\n}", []string{"B"}, "{\r\n\t\"chats\": [\r\n\t\t\"A\",\r\n\t\t\"B\"\r\n\t]\r\n}"},
		{"the last of repeated keys", `{"chats":["A"],"x":1.0,"\u0063hats":["C"]}`, []string{"B"}, `{"chats":["A"],"x":1.0,"\u0063hats":["C","B"]}`},
		{"names as JSON.stringify writes them", `{"chats":["A"]}`, []string{`a"b\`, "<日本>"}, `{"chats":["A","a\"b\\","<日本>"]}`},
		{"listed under another spelling", `{"chats":["a:b"]}`, []string{"ab"}, `{"chats":["a:b"]}`},
		{"missing", `{"chat_id":"A"}`, []string{"B"}, `{"chat_id":"A","chats":["A","B"]}`},
		{"null", `{"chat_id":"A","chats":null,"z":0}`, []string{"B"}, `{"chat_id":"A","chats":["A","B"],"z":0}`},
		{
			"missing in a pretty file", "{\n    \"id\": \"7\"\n}",
			[]string{"B"},
			"{\n    \"id\": \"7\",\n    \"chat_id\": \"7\",\n    \"chats\": [" + at2 + "\"7\"," + at2 + "\"B\"\n    ]\n}",
		},
		{"missing, and nothing to add", `{"chat_id":"A"}`, []string{"A"}, `{"chat_id":"A"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := mustParse(t, tt.raw)
			got, err := f.WithChats(tt.add...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if string(f.Raw()) != tt.raw {
				t.Error("the bytes read were changed")
			}
		})
	}
	for _, raw := range []string{`{"chats":"A"}`, `{"chats":{"0":"A"}}`, `{"chats":7}`} {
		got, err := mustParse(t, raw).WithChats("B")
		if err == nil || got != nil || !strings.HasPrefix(err.Error(), "g.json: ") {
			t.Errorf("%s: %s, %v; want an error that names the file", raw, got, err)
		}
	}
}

// TestGolden compares with what SillyTavern 1.19 made of its group files, which also
// notes dates and sizes there and moves chat_id.
func TestGolden(t *testing.T) {
	for _, scenario := range []string{"group", "group-headerless"} {
		folder := filepath.Join("..", "..", "..", "testdata", "golden", scenario)
		before, err := LoadAll(filepath.Join(folder, "before", "groups"))
		if err != nil {
			t.Fatal(err)
		}
		after, err := LoadAll(filepath.Join(folder, "after", "groups"))
		if err != nil {
			t.Fatal(err)
		}
		if len(before.Files) != 1 || len(before.Bad) != 0 {
			t.Fatalf("%s: %d groups, errors %v", scenario, len(before.Files), before.Bad)
		}
		f := before.Files[0]
		now := after.Files[0]
		got, err := f.WithChats(now.Chats...)
		if err != nil {
			t.Fatal(err)
		}
		if list := func(raw []byte) []byte {
			at := bytes.Index(raw, []byte(`"chats"`))
			return raw[at : at+bytes.IndexByte(raw[at:], ']')+1]
		}; !bytes.Equal(list(got), list(now.Raw())) {
			t.Errorf("%s: (-SillyTavern +got):\n%s", scenario, cmp.Diff(string(list(now.Raw())), string(list(got))))
		}
		for _, chat := range now.Chats {
			if diff := cmp.Diff([]*File{now}, after.Listing(chat), cmp.Comparer(func(a, b *File) bool { return a == b })); diff != "" {
				t.Errorf("%s: listing of %q (-want +got):\n%s", scenario, chat, diff)
			}
		}
	}
}

const oldLayout = `{"id":"7","chat_id":"Now","chats":["Now","Then","a:b"],` +
	`"chat_metadata":{"n":1},"past_metadata":{"Then":{"t":2},"Now":{"n":0},"a:b":{"x":1.0},"Gone":5}}`

func TestOldMetadata(t *testing.T) {
	tests := []struct {
		name, raw, chat, want string
	}{
		{"of the current chat", oldLayout, "Now", `{"n":1}`},
		{"of another", oldLayout, "Then", `{"t":2}`},
		{"under a name that was made safe", oldLayout, "ab", `{"x":1.0}`},
		{"of none", oldLayout, "New", ""},
		{"no object", oldLayout, "Gone", ""},
		// {...past_metadata, [chat_id]: chat_metadata || {}}
		{"missing for the current chat", `{"chat_id":"Now","chats":["Now"],"past_metadata":{"Now":{"n":0}}}`, "Now", ""},
		{"without chat_id", `{"id":"7","chat_metadata":{"a":1}}`, "7", `{"a":1}`},
		{"past is a list", `{"id":"7","chats":["0"],"past_metadata":[{}]}`, "0", ""},
		{"the last of repeated keys", `{"chats":["A"],"past_metadata":{"A":{"a":1},"\u0041":{"a":2}}}`, "A", `{"a":2}`},
		{"a key that looks like a path", `{"chats":["a.b"],"past_metadata":{"a":{"b":{}},"a.b":{"y":1}}}`, "a.b", `{"y":1}`},
	}
	for _, tt := range tests {
		got, ok := mustParse(t, tt.raw).OldMetadata(tt.chat)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || ok != (tt.want != "") {
			t.Errorf("%s: ok %v (-want +got):\n%s", tt.name, ok, diff)
		}
	}
	for raw, want := range map[string]bool{oldLayout: true, `{"past_metadata":{}}`: true, `{"chat_metadata":null}`: true, pretty("[]"): false} {
		if got := mustParse(t, raw).HasOldLayout(); got != want {
			t.Errorf("HasOldLayout of %s = %v", raw, got)
		}
	}
}

func TestWithoutOldMetadata(t *testing.T) {
	tests := []struct {
		name, raw string
		chats     []string
		want      string
	}{
		{
			"of the current chat", oldLayout,
			[]string{"Now"},
			`{"id":"7","chat_id":"Now","chats":["Now","Then","a:b"],"past_metadata":{"Then":{"t":2},"a:b":{"x":1.0},"Gone":5}}`,
		},
		{
			"of another", oldLayout,
			[]string{"Then"},
			`{"id":"7","chat_id":"Now","chats":["Now","Then","a:b"],"chat_metadata":{"n":1},"past_metadata":{"Now":{"n":0},"a:b":{"x":1.0},"Gone":5}}`,
		},
		{"of all", oldLayout, []string{"Now", "Then", "ab", "Gone"}, `{"id":"7","chat_id":"Now","chats":["Now","Then","a:b"]}`},
		{"of none", oldLayout, []string{"New"}, oldLayout},
		{"pretty", "{\n    \"chat_id\": \"A\",\n    \"chat_metadata\": {},\n    \"z\": 1.0\n}", []string{"A"}, "{\n    \"chat_id\": \"A\",\n    \"z\": 1.0\n}"},
		{"past is no object", `{"chat_id":"A","past_metadata":[1]}`, []string{"A"}, `{"chat_id":"A","past_metadata":[1]}`},
	}
	for _, tt := range tests {
		got := mustParse(t, tt.raw).WithoutOldMetadata(tt.chats...)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestWithNames(t *testing.T) {
	const past = `"past_metadata":{"Then":{"t":2},"Now":{"n":0},"a:b":{"x":1.0},"Gone":5}`
	to := func(from, to string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			if name == from {
				return to, to != ""
			}
			return name, true
		}
	}
	tests := []struct {
		name, raw string
		edit      func(string) (string, bool)
		open      string
		want      string
	}{
		{"renamed", oldLayout, to("Then", "New"), "", strings.ReplaceAll(oldLayout, `"Then"`, `"New"`)},
		{"the open one renamed", oldLayout, to("Now", "New"), "", strings.ReplaceAll(oldLayout, `"Now"`, `"New"`)},
		{
			"another is opened: each keeps its metadata", oldLayout, to("", ""), "Then",
			`{"id":"7","chat_id":"Then","chats":["Now","Then","a:b"],"chat_metadata":{"t":2},` + strings.Replace(past, `{"n":0}`, `{"n":1}`, 1) + "}",
		},
		{
			"one without metadata", oldLayout, to("", ""), "New",
			`{"id":"7","chat_id":"New","chats":["Now","Then","a:b"],` + strings.Replace(past, `{"n":0}`, `{"n":1}`, 1) + "}",
		},
		{
			"the open one goes", oldLayout, to("Now", ""), "ab",
			`{"id":"7","chat_id":"ab","chats":["Then","a:b"],"chat_metadata":{"x":1.0},` + strings.Replace(past, `"Now":{"n":0},`, "", 1) + "}",
		},
		{"no other metadata yet", `{"chat_id":"A","chats":["A","B"],"chat_metadata":{}}`, to("", ""), "B", `{"chat_id":"B","chats":["A","B"],"past_metadata":{"A":{}}}`},
		{"numbers", `{"id":7,"chat_id":1,"chats":[1,2]}`, to("1", "A"), "", `{"id":7,"chat_id":"A","chats":["A",2]}`},
		{"the oldest", `{"id":7}`, to("7", "A"), "", `{"id":7,"chat_id":"A"}`},
		{"nothing", `{"id":7,"chats":[1,null]}`, to("", ""), "", `{"id":7,"chats":[1,null]}`},
	}
	for _, tt := range tests {
		got := mustParse(t, tt.raw).WithNames(tt.edit, tt.open)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestLoadAll(t *testing.T) {
	dir := t.TempDir()
	for name, raw := range map[string]string{
		"b.json":  `{"id":"b","chats":["B","Both"]}`,
		"a.json":  `{"id":"a","chats":["A","Both","Both"]}`,
		"x.json":  `{"id":`,
		"y.json":  `[]`,
		"c.txt":   `{`,
		".json":   `{`,
		"c.jsonl": `{`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(raw), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.json"), 0o777); err != nil {
		t.Fatal(err)
	}
	set, err := LoadAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(files []*File) (ids []string) {
		for _, f := range files {
			ids = append(ids, f.ID)
		}
		return ids
	}
	if diff := cmp.Diff([]string{"a", "b"}, ids(set.Files)); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	for chat, want := range map[string][]string{"A": {"a"}, "B": {"b"}, "Both": {"a", "b"}, "C": nil} {
		if diff := cmp.Diff(want, ids(set.Listing(chat))); diff != "" {
			t.Errorf("listing %s (-want +got):\n%s", chat, diff)
		}
	}
	var bad []string
	for _, err := range set.Bad {
		rest := strings.TrimPrefix(err.Error(), dir+string(filepath.Separator))
		bad = append(bad, rest[:strings.Index(rest, ":")])
	}
	if diff := cmp.Diff([]string{"x.json", "y.json"}, bad); diff != "" {
		t.Errorf("files that cannot be read (-want +got):\n%s", diff)
	}

	none, err := LoadAll(filepath.Join(dir, "none"))
	if err != nil || len(none.Files) != 0 || none.Listing("A") != nil {
		t.Errorf("a folder that is not there: %+v, %v", none, err)
	}
	if _, err := LoadAll(filepath.Join(dir, "a.json")); err == nil {
		t.Error("a file in place of the folder: no error")
	}
	if _, err := Load(filepath.Join(dir, "dir.json")); err == nil || !strings.Contains(err.Error(), "dir.json: not a regular file") {
		t.Errorf("a folder: error %v", err)
	}
	if _, err := Load(filepath.Join(dir, "none.json")); !errors.Is(err, os.ErrNotExist) || strings.Count(err.Error(), "none.json") != 1 {
		t.Errorf("a file that is not there: error %v", err)
	}
}

// members is the object as encoding/json reads it, its values raw.
func members(t *testing.T, raw []byte) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return m
}

func FuzzWithChats(f *testing.F) {
	f.Add([]byte(pretty("[\n        \"A\"\n    ]")), "B")
	f.Add([]byte(pretty("[]")), "B\n\"")
	f.Add([]byte(`{"chats":["A"],"\u0063hats":[1,{}]}`), "日本")
	f.Add([]byte(`{"id":7}`), "x")
	f.Add([]byte(`{"chat_id":"A","chats":null}`), "\u2028")
	f.Add([]byte(oldLayout), "Then")
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		file, err := Parse("g.json", bytes.Clone(raw))
		if err != nil {
			return
		}
		before := members(t, raw)
		file.OldMetadata(name)
		if got := file.WithoutOldMetadata(name); !json.Valid(got) {
			t.Fatalf("WithoutOldMetadata: %q", got)
		}
		got, err := file.WithChats(name, name)
		if err != nil {
			return
		}
		if file.Lists(name) {
			if !bytes.Equal(raw, got) {
				t.Fatalf("nothing to add, but %q", got)
			}
			return
		}
		after := members(t, got)
		var was, is []json.RawMessage
		if list := before["chats"]; list != nil && string(list) != "null" {
			if err := json.Unmarshal(list, &was); err != nil {
				t.Fatalf("chats is %s, and no error", list)
			}
		} else {
			for _, chat := range file.Chats {
				quoted, _ := json.Marshal(chat)
				was = append(was, quoted)
			}
			if string(before["chat_id"]) == "null" || before["chat_id"] == nil {
				delete(before, "chat_id")
				delete(after, "chat_id")
			}
		}
		if err := json.Unmarshal(after["chats"], &is); err != nil {
			t.Fatal(err)
		}
		if len(is) != len(was)+1 {
			t.Fatalf("%d chats, then %d", len(was), len(is))
		}
		var first, second, last string
		for i := range was {
			if bytes.Equal(was[i], is[i]) {
				continue
			}
			if json.Unmarshal(was[i], &first) != nil || json.Unmarshal(is[i], &second) != nil || first != second {
				t.Fatalf("entry %d was %s, is %s", i, was[i], is[i])
			}
		}
		if err := json.Unmarshal(is[len(was)], &last); err != nil || (last != name && strings.ToValidUTF8(name, "\uFFFD") == name) {
			t.Fatalf("added %q, wanted %q", last, name)
		}
		delete(before, "chats")
		delete(after, "chats")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("more than chats changed (-before +after):\n%s", diff)
		}
	})
}

// Edits of one file are made together, the names first, in whatever order they come.
func TestEditJoin(t *testing.T) {
	gone := func(name string) (string, bool) { return name, name != "a" }
	for _, list := range [][]*Edit{
		{{Path: "g", Names: gone, Instead: "c"}, {Path: "g", List: []string{"d"}}},
		{{Path: "g", List: []string{"d"}}, {Path: "g", Names: gone, Instead: "c"}},
	} {
		joined, err := list[0].Join(list[1])
		if err != nil {
			t.Fatal(err)
		}
		applied, err := joined.(*Edit).Apply([]byte(`{"id":"g","chats":["a","b"],"chat_id":"a"}`))
		if want := `{"id":"g","chats":["b","c","d"],"chat_id":"c"}`; string(applied.Forgotten) != want || err != nil {
			t.Errorf("%s, %v; want %s", applied.Forgotten, err, want)
		}
	}
	unlist := &Edit{Path: "g", Unlist: []string{"b"}}
	joined, err := unlist.Join(&Edit{Path: "g", Unlist: []string{"a"}, List: []string{"d"}})
	if err != nil {
		t.Fatal(err)
	}
	applied, err := joined.(*Edit).Apply([]byte(`{"id":"g","chats":["b","a","b","c"],"past_metadata":{"b":{}}}`))
	if want := `{"id":"g","chats":["c","d"],"past_metadata":{"b":{}}}`; string(applied.Forgotten) != want || err != nil {
		t.Errorf("%s, %v; want %s", applied.Forgotten, err, want)
	}
	both := &Edit{Path: "g", Names: gone}
	if _, err := both.Join(both); err == nil {
		t.Error("two edits of names are joined")
	}
}
