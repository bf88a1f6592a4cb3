package rawjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, raw string) *Object {
	t.Helper()
	o, err := ParseObject([]byte(raw))
	if err != nil {
		t.Fatalf("ParseObject(%q): %v", raw, err)
	}
	return o
}

func TestEdits(t *testing.T) {
	set := func(k, v string) func(*Object) { return func(o *Object) { o.Set(k, []byte(v)) } }
	raw := func(k, v string) func(*Object) { return func(o *Object) { o.SetRaw([]byte(k), []byte(v)) } }
	first := func(k, v string) func(*Object) { return func(o *Object) { o.SetFirst(k, []byte(v)) } }
	unset := func(k string) func(*Object) { return func(o *Object) { o.Unset(k) } }
	type edits = []func(*Object)
	tests := []struct {
		name, in string
		edits    edits
		want     string
	}{
		{"none", " { \"a\" : 1 }\n", nil, " { \"a\" : 1 }\n"},
		{"set keeps key spelling and spaces", `{ "\u0061" : 1.0 , "b":2}`, edits{set("a", "3")}, `{ "\u0061" : 3 , "b":2}`},
		{"set the last of repeated keys", `{"a":1,"b":2,"a":3}`, edits{set("a", "4")}, `{"a":1,"b":2,"a":4}`},
		{"set twice", `{"a":1}`, edits{set("a", "2"), set("a", "3")}, `{"a":3}`},
		{"append to empty", `{}`, edits{set("a", "1")}, `{"a":1}`},
		{"append to empty with space", `{ }`, edits{set("a", "1")}, `{"a":1 }`},
		{"append", `{"a":1}`, edits{set("b", "2"), set("c", "3")}, `{"a":1,"b":2,"c":3}`},
		{"append is compact on one line", `{"a": 1, "b": 2}`, edits{set("c", "3")}, `{"a": 1, "b": 2,"c":3}`},
		{"append to a member a line", "{\n  \"a\": 1\n}", edits{set("b", "2")}, "{\n  \"a\": 1,\n  \"b\": 2\n}"},
		{"raw key", `{"a":1}`, edits{raw(`"\u0062"`, "2"), raw(`"\u0061"`, "3"), raw(`"b"`, "4")}, `{"a":3,"\u0062":4}`},
		{"front", `{"a":1}`, edits{first("b", "2")}, `{"b":2,"a":1}`},
		{"front twice", `{"a":1}`, edits{first("b", "2"), first("c", "3")}, `{"c":3,"b":2,"a":1}`},
		{"front of empty", `{}`, edits{first("b", "2"), set("c", "3")}, `{"b":2,"c":3}`},
		{"front of a member a line", "{\n\t\"a\": 1,\n\t\"b\": 2\n}", edits{first("c", "3")}, "{\n\t\"c\": 3,\n\t\"a\": 1,\n\t\"b\": 2\n}"},
		{"front of one that exists", `{"a":1,"b":2}`, edits{first("b", "3")}, `{"a":1,"b":3}`},
		{"unset first", `{"a":1, "b":2}`, edits{unset("a")}, `{"b":2}`},
		{"unset middle", `{"a":1, "b":2 ,"c":3}`, edits{unset("b")}, `{"a":1 ,"c":3}`},
		{"unset last", "{\n  \"a\": 1,\n  \"b\": 2\n}", edits{unset("b")}, "{\n  \"a\": 1\n}"},
		{"unset all occurrences", `{"a":1,"b":2,"\u0061":3}`, edits{unset("a")}, `{"b":2}`},
		{"unset the only one", "{\n  \"a\": 1\n}", edits{unset("a")}, "{}"},
		{"unset what is not there", `{ "a":1}`, edits{unset("b")}, `{ "a":1}`},
		{"unset then set goes to the end", `{"a":1,"b":2}`, edits{unset("a"), set("a", "3")}, `{"b":2,"a":3}`},
		{"unset a new one", `{"a":1}`, edits{set("b", "2"), unset("b")}, `{"a":1}`},
		{"unset first, front another", `{"a":1,"b":2}`, edits{unset("a"), first("c", "3")}, `{"c":3,"b":2}`},
		{"unset everything, set one", `{"a":1,"b":2}`, edits{unset("a"), unset("b"), set("c", "3")}, `{"c":3}`},
		{"literal keys", `{"a.b":1,"a":{"b":2},"*":3}`, edits{set("a.b", "4"), set("*", "5"), set("x.y|#@!\\\"", "6")}, `{"a.b":4,"a":{"b":2},"*":5,"x.y|#@!\\\"":6}`},
		{"key that is not UTF-8", `{"\uFFFD":1}`, edits{set("\xff", "2"), set("\xcc", "3")}, `{"\uFFFD":3}`},
		{"lone surrogate key", `{"\ud800":1}`, edits{set("\xed\xa0\x80", "2")}, `{"\ud800":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, indexed := range []bool{false, true} {
				o := parse(t, tt.in)
				if indexed {
					o.index()
				}
				for _, edit := range tt.edits {
					edit(o)
				}
				if diff := cmp.Diff(tt.want, string(o.Bytes())); diff != "" {
					t.Errorf("indexed %v (-want +got):\n%s", indexed, diff)
				}
			}
		})
	}
}

func TestNewObject(t *testing.T) {
	o := NewObject()
	if got := string(o.Bytes()); got != "{}" || o.Edited() {
		t.Errorf("new: %s, edited %v", got, o.Edited())
	}
	o.Set("a", []byte("1"))
	if got := string(o.Bytes()); got != `{"a":1}` || !o.Edited() {
		t.Errorf("after Set: %s, edited %v", got, o.Edited())
	}
}

func TestParseObjectRefuses(t *testing.T) {
	for _, raw := range []string{"", " ", "null", "[]", `"{}"`, "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a" 1}`, `{a:1}`, `{"a":1}x`, `{"a":"}`, `{"a":[}`, `{,}`} {
		if o, err := ParseObject([]byte(raw)); !errors.Is(err, ErrNotObject) {
			t.Errorf("ParseObject(%q) = %v, %v", raw, o, err)
		}
	}
}

func TestAllAndDuplicates(t *testing.T) {
	o := parse(t, `{"b":1,"a":2,"\u0062":3,"c":4,"b":5,"a":6,"d":7}`)
	o.Set("z", []byte("8"))
	o.SetFirst("f", []byte("9"))
	o.Unset("d")
	var got []string
	for k, v := range o.All() {
		got = append(got, k+"="+string(v))
	}
	if diff := cmp.Diff([]string{"f=9", "b=5", "a=6", "c=4", "z=8"}, got); diff != "" {
		t.Errorf("All (-want +got):\n%s", diff)
	}
	if first, n := o.Duplicates(); first != "b" || n != 2 {
		t.Errorf("Duplicates = %q and %d in all, want b and 2", first, n)
	}
	if o.Len() != 5 {
		t.Errorf("Len = %d, want 5", o.Len())
	}
	for range o.All() {
		break // stopping early must not panic
	}
}

// Many keys must not be quadratic, whether they are read, set or removed.
// Were it so, this would take minutes.
func TestManyKeys(t *testing.T) {
	const n = 100_000
	o := NewObject()
	for i := range n {
		o.Set(fmt.Sprint("k", i), []byte("1"))
	}
	o = parse(t, string(o.Bytes()))
	for i := range n {
		switch i % 3 {
		case 0:
			o.Unset(fmt.Sprint("k", i))
		case 1:
			o.Set(fmt.Sprint("k", i), []byte("2"))
		default:
			o.Set(fmt.Sprint("new", i), []byte("3"))
		}
	}
	var got map[string]int
	if err := json.Unmarshal(o.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != o.Len() || got["k1"] != 2 || got["k2"] != 1 || got["new2"] != 3 {
		t.Errorf("%d keys, Len %d; k1 %d, k2 %d, new2 %d", len(got), o.Len(), got["k1"], got["k2"], got["new2"])
	}
	if _, ok := got["k0"]; ok {
		t.Error("k0 is still there")
	}

	same := parse(t, "{"+strings.Repeat(`"a":1,`, n)+`"a":2}`)
	same.Unset("a")
	if got := string(same.Bytes()); got != "{}" {
		t.Errorf("after Unset of a key repeated often: %.40q", got)
	}
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	raw := []byte(`{"name":"Mira","extra":{"type":"x","list":[1,2,"three"]},"mes":"a \" b"}`)
	var sink int
	if n := testing.AllocsPerRun(100, func() {
		for k, v := range Members(raw) {
			if KeyIs(k, "mes") {
				sink += len(v)
			}
		}
		list, _ := Lookup(raw, "extra", "list")
		for v := range Elements(list) {
			sink += len(v)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzObject(f *testing.F) {
	f.Add(`{"a":1,"b":{"c":[1,2]},"a":"x"}`, "a", "b", `[1, 2]`)
	f.Add("{\n \"a\" : 1\n}", "c", "a", `"x\ty"`)
	f.Add(`{"\u0061":"\ud800"}`, "a", "\xed\xa0\x80", `-0.0e5`)
	f.Add(` { } `, "", "\uFFFD", `{}`)
	f.Add("{\"\xff\":1,\"\uFFFD\":2}", "\uFFFD", "\xff", "null")
	f.Fuzz(func(t *testing.T, in, setKey, unsetKey, value string) {
		o, err := ParseObject([]byte(in))
		valid := json.Valid([]byte(in))
		var before map[string]json.RawMessage
		isObject := valid && json.Unmarshal([]byte(in), &before) == nil && before != nil
		if isObject && err != nil {
			t.Fatalf("ParseObject(%q): %v", in, err)
		}
		if err != nil {
			return
		}
		if string(o.Bytes()) != in {
			t.Fatalf("unedited bytes differ: %q", o.Bytes())
		}
		o.Set(setKey, []byte(value))
		o.Unset(unsetKey)
		out := o.Bytes()
		if !isObject || !json.Valid([]byte(value)) {
			return // only that it does not panic
		}
		if KindOf([]byte(value)) == Invalid {
			t.Fatalf("KindOf(%q) = Invalid", value)
		}
		var after map[string]json.RawMessage
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		// encoding/json cannot tell lone surrogates and broken bytes apart in a key.
		for _, key := range []string{setKey, unsetKey} {
			if strings.ContainsRune(key, '\uFFFD') || !utf8.ValidString(key) {
				return
			}
		}
		before[setKey] = json.RawMessage(strings.Trim(value, " \t\r\n"))
		delete(before, unsetKey)
		for k, v := range before {
			if string(after[k]) != string(v) {
				t.Errorf("%q: %q is %q, want %q", out, k, after[k], v)
			}
		}
		if len(after) != len(before) {
			t.Errorf("%q: %d keys, want %d", out, len(after), len(before))
		}
	})
}
