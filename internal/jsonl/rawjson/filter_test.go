package rawjson

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFilter(t *testing.T) {
	for _, c := range []struct{ in, keep, want string }{
		{`[1,2,3]`, "111", `[1,2,3]`},
		{`[1,2,3]`, "011", `[2,3]`},
		{`[1,2,3]`, "101", `[1,3]`},
		{`[1,2,3]`, "110", `[1,2]`},
		{`[1,2,3]`, "010", `[2]`},
		{`[1,2,3]`, "000", `[]`},
		{" [ 1.0 , \"a]\" , {} ] ", "010", " [ \"a]\" ] "},
		{"[\n  1,\n  2,\n  3\n]", "001", "[\n  3\n]"},
		{"[\n  1,\n  2,\n  3\n]", "100", "[\n  1\n]"},
		{"[\n  1\n]", "0", "[]"},
		{`[]`, "", `[]`},
		{`{"a":1}`, "", `{"a":1}`},
		{`[1,`, "0", `[1,`},
	} {
		got := Filter([]byte(c.in), func(i int, _ []byte) bool { return c.keep[i] == '1' })
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%q %s (-want +got):\n%s", c.in, c.keep, diff)
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add([]byte(`[1, [2], "3",{"4":5}]`), uint64(5))
	f.Add([]byte("[\n 1,\n 2 ]"), uint64(2))
	f.Fuzz(func(t *testing.T, raw []byte, mask uint64) {
		got := Filter(raw, func(i int, _ []byte) bool { return mask>>(i%64)&1 == 1 })
		var all []json.RawMessage
		if json.Unmarshal(raw, &all) != nil {
			return
		}
		want := []json.RawMessage{}
		for i, v := range all {
			if mask>>(i%64)&1 == 1 {
				want = append(want, v)
			}
		}
		var have []json.RawMessage
		if err := json.Unmarshal(got, &have); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if diff := cmp.Diff(want, have); len(want)+len(have) > 0 && diff != "" {
			t.Errorf("%q gave %q:\n%s", raw, got, diff)
		}
	})
}

func TestEdit(t *testing.T) {
	bump := func(inner *Object) {
		if n, ok := Int(inner.Value("n")); ok {
			inner.Set("n", []byte{byte('1' + n)})
		}
	}
	edit := func(o *Object) { o.Edit(bump, "a", "b") }
	for in, want := range map[string]string{
		`{ "a": {"b":{"n":1} },"c":2}`: `{ "a": {"b":{"n":2} },"c":2}`,
		`{ "a": {"b":{"m":1}} }`:       `{ "a": {"b":{"m":1}} }`,
		`{"a":{"b":[1]}}`:              `{"a":{"b":[1]}}`,
		`{"b":{"n":1}}`:                `{"b":{"n":1}}`,
		`[1]`:                          `[1]`,
	} {
		if got := string(Edit([]byte(in), edit)); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
	drop := func(o *Object) {
		o.EditList("l", func(i int, value []byte) ([]byte, bool) { return value, i != 1 })
	}
	for in, want := range map[string]string{`{"l":[1, 2, 3]}`: `{"l":[1, 3]}`, `{"l" : [1]}`: `{"l" : [1]}`, `{"l":"no list"}`: `{"l":"no list"}`, `{}`: `{}`} {
		if got := string(Edit([]byte(in), drop)); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}
