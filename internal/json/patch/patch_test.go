package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
)

func path(t *testing.T, key string) Path {
	t.Helper()
	p, err := ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParseKey(t *testing.T) {
	for key, want := range map[string]Path{
		"plain": {"plain"}, "a.b": {"a.b"}, "": {""}, "a/b": {"a/b"},
		"/extra/model": {"extra", "model"}, "/~1a~0": {"/a~"}, "/~01": {"~1"}, "/": {""}, "//": {"", ""},
	} {
		if diff := cmp.Diff(want, path(t, key)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", key, diff)
		}
	}
	for _, key := range []string{"/a~", "/~2", "/a~~0"} {
		if p, err := ParseKey(key); !errors.Is(err, ErrPointer) {
			t.Errorf("%q: %v, %v", key, p, err)
		}
	}
	if p := (Path{"a/b", "~", ""}); p.String() != "/a~1b/~0/" {
		t.Errorf("written as %q", p)
	}
}

func TestSetAndUnset(t *testing.T) {
	const raw = `{"a":1.0, "l":[1, {"x":"\u0041"}], "t":"x", "a":2}`
	for _, c := range []struct {
		key, value, want string
		err              error
	}{
		{"b", "1e2", `{"a":1.0, "l":[1, {"x":"\u0041"}], "t":"x", "a":2,"b":1e2}`, nil},
		{"/a", " [ 1 ] ", `{"a":1.0, "l":[1, {"x":"\u0041"}], "t":"x", "a":[1]}`, nil},
		{"/l/1/x", `"y"`, `{"a":1.0, "l":[1, {"x":"y"}], "t":"x", "a":2}`, nil},
		{"/l/-", `3`, `{"a":1.0, "l":[1, {"x":"\u0041"},3], "t":"x", "a":2}`, nil},
		{"/n/m", `3`, `{"a":1.0, "l":[1, {"x":"\u0041"}], "t":"x", "a":2,"n":{"m":3}}`, nil},
		{"", `5`, `{"a":1.0, "l":[1, {"x":"\u0041"}], "t":"x", "a":2,"":5}`, nil},
		{"/l/2", `5`, "", ErrMissing},
		{"/l/2/x", `5`, "", ErrMissing},
		{"/l/01", `5`, "", ErrNoPlace},
		{"/l/x", `5`, "", ErrNoPlace},
		{"/t/x", `5`, "", ErrNoPlace},
		{"/t/x/y", `5`, "", ErrNoPlace},
	} {
		got, err := setAt([]byte(raw), []byte(c.value), path(t, c.key))
		if string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("set %s:\n got %s, %v\nwant %s, %v", c.key, got, err, c.want, c.err)
		}
	}
	for key, want := range map[string]string{
		"a":      `{"l":[1, {"x":"\u0041"}], "t":"x"}`,
		"/l/0":   `{"a":1.0, "l":[{"x":"\u0041"}], "t":"x", "a":2}`,
		"/l/1/x": `{"a":1.0, "l":[1, {}], "t":"x", "a":2}`,
		"/l/7":   raw, "/t/x": raw, "b": raw, "/l/-": raw,
	} {
		if got := Unset([]byte(raw), path(t, key)); string(got) != want {
			t.Errorf("unset %s:\n got %s\nwant %s", key, got, want)
		}
	}
}

func TestMergePatch(t *testing.T) {
	for _, c := range [][3]string{ // the examples of RFC 7386, appendix A, and what they leave open
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{ "n" : 1.0 , "o":{ "k":1} }`, `{"o":{}}`, `{ "n" : 1.0 , "o":{ "k":1} }`},
		{`{"a":1}`, `{"a":2,"a":3}`, `{"a":3}`},
	} {
		if got, err := MergePatch([]byte(c[0]), []byte(c[1])); string(got) != c[2] || err != nil {
			t.Errorf("%s + %s: %s, %v; want %s", c[0], c[1], got, err, c[2])
		}
	}
	if _, err := MergePatch([]byte(`{}`), []byte(`{"a"`)); err == nil {
		t.Error("a torn merge patch is taken")
	}
}

func TestMalformed(t *testing.T) {
	for _, raw := range []string{
		``, `{}`, `[1]`, `[{}]`, `[{"op":"frob","path":"/a"}]`, `[{"op":"add","value":1}]`, `[{"op":"add","path":"a","value":1}]`,
		`[{"op":"add","path":"/a"}]`, `[{"op":"move","path":"/a"}]`, `[{"op":"move","from":"/a","path":"/a/b"}]`, `[{"op":"test","path":5,"value":1}]`,
	} {
		if list, err := ParseOperations([]byte(raw)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, %v", raw, list, err)
		}
	}
}

// A patch gives what an independent implementation gives, and fails where that fails.
func TestRandomPatches(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range 20000 {
		document := text(value(random, 3))
		list := operations(random)
		patch := text(list)
		oracle, err := jsonpatch.DecodePatch([]byte(patch))
		if err != nil {
			t.Fatal(err)
		}
		options := jsonpatch.NewApplyOptions()
		options.SupportNegativeIndices = false
		want, wantErr := oracle.ApplyWithOptions([]byte(document), options)
		parsed, err := ParseOperations([]byte(patch))
		if errors.Is(err, ErrMalformed) && strings.Contains(err.Error(), "into itself") {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := Apply([]byte(document), parsed)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%s\n%s\nwant %s, %v\n got %s, %v", document, patch, want, wantErr, got, err)
		}
		if err != nil {
			failed++
			continue
		}
		if !jsonpatch.Equal(got, want) {
			t.Fatalf("%s\n%s\nwant %s\n got %s", document, patch, want, got)
		}
	}
	if failed < 1000 || failed > 19000 {
		t.Errorf("%d of 20000 patches failed: the test does not test", failed)
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func value(random *rand.Rand, depth int) any {
	if depth == 3 {
		return map[string]any{"a": value(random, 2), "b": value(random, 2), "c": []any{1, value(random, 1)}}
	}
	switch n := random.IntN(6); {
	case n < 2 && depth > 0:
		return map[string]any{"a": value(random, depth-1), "b": value(random, depth-1)}
	case n < 4 && depth > 0:
		return []any{value(random, depth-1), value(random, depth-1)}
	case n == 4:
		return "text"
	}
	return random.IntN(3)
}

func operations(random *rand.Rand) []map[string]any {
	pointer := func() string {
		var b strings.Builder
		for range 1 + random.IntN(3) {
			fmt.Fprintf(&b, "/%s", []string{"a", "b", "c", "0", "1", "2", "-"}[random.IntN(7)])
		}
		return b.String()
	}
	var list []map[string]any
	for range 1 + random.IntN(3) {
		o := map[string]any{"op": []string{"add", "remove", "replace", "move", "copy", "test"}[random.IntN(6)], "path": pointer()}
		switch o["op"] {
		case "move", "copy":
			o["from"] = pointer()
		case "remove":
		default:
			o["value"] = value(random, 1)
		}
		list = append(list, o)
	}
	return list
}

// What a path does not name keeps its bytes, and what is set is found again.
func FuzzSet(f *testing.F) {
	f.Add(`{"a":[1,{"b":2}]}`, "/a/1/b", `"x"`)
	f.Add(`{"a" : 1, "a":2 }`, "a", `[ ]`)
	f.Add(`[[],[1]]`, "/1/-", `0`)
	f.Fuzz(func(t *testing.T, raw, key, with string) {
		p, err := ParseKey(key)
		if err != nil || !utf8.ValidString(key) || !json.Valid([]byte(raw)) || !json.Valid([]byte(with)) {
			return
		}
		got, err := setAt([]byte(raw), []byte(with), p)
		if err != nil {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%s, %s = %s: %s", raw, key, with, got)
		}
		if p[len(p)-1] == "-" {
			return
		}
		if found, ok := Get(got, p); !ok || !jsonpatch.Equal(found, []byte(with)) {
			t.Fatalf("%s, %s = %s: found %s", raw, key, with, found)
		}
		again, err := setAt(got, []byte(with), p)
		if err != nil || string(again) != string(got) {
			t.Fatalf("set again: %s, %v; before %s", again, err, got)
		}
	})
}

// setAt returns raw with the value at the path.
func setAt(raw, value []byte, path Path) ([]byte, error) {
	d := NewDocument(raw)
	if err := d.set(value, path); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}
