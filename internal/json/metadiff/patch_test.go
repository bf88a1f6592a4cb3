package metadiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// nastyKeys are keys that patches, paths and globs give a meaning to.
var nastyKeys = []string{
	"", "/", "~", "~0", "~1", "~01", "a.b", "a/b", "0", "1", "-", "01", "*", "?", "[", "#", "@this", "|", `\`, `"`, "\n", "\x00", "é", "日本", "😀", "\u2028", "<&>",
	"world_info", "main_chat", "value", "op", "__proto__", "null",
}

// generator makes random metadata.
type generator struct{ *rand.Rand }

func (g generator) key() string { return string(mustJSON(nastyKeys[g.IntN(len(nastyKeys))])) }

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func (g generator) object(depth int, nulls bool) string {
	var members []string
	used := map[string]bool{}
	for range g.IntN(6) {
		if key := g.key(); !used[key] {
			used[key] = true
			members = append(members, key+":"+g.value(depth-1, nulls))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (g generator) value(depth int, nulls bool) string {
	scalars := []string{"true", "false", "0", "-0", "1", "1.0", "1e0", "10e-1", "9007199254740992", "9007199254740993", "1e400", `""`, `"x"`, `"\u0041"`, `"A"`, `"日本"`, `"<b>"`}
	if nulls {
		scalars = append(scalars, "null", "null")
	}
	switch n := g.IntN(8); {
	case n < 2 && depth > 0:
		return g.object(depth, nulls)
	case n < 4 && depth > 0:
		var elems []string
		for range g.IntN(6) {
			elems = append(elems, g.value(depth-1, nulls))
		}
		return "[" + strings.Join(elems, ",") + "]"
	}
	return scalars[g.IntN(len(scalars))]
}

// mutate returns raw with some of it changed, so that much stays the same.
func (g generator) mutate(raw string, depth int, nulls bool) string {
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		panic(err)
	}
	return string(mustJSON(g.change(v, depth, nulls)))
}

func (g generator) change(v any, depth int, nulls bool) any {
	fresh := func() any { return json.RawMessage(g.value(2, nulls)) }
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			switch g.IntN(6) {
			case 0:
				delete(v, key)
			case 1, 2:
				v[key] = g.change(v[key], depth+1, nulls)
			}
		}
		if g.IntN(3) == 0 {
			v[nastyKeys[g.IntN(len(nastyKeys))]] = fresh()
		}
		return v
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			switch g.IntN(6) {
			case 0:
			case 1:
				out = append(out, fresh(), e)
			case 2:
				out = append(out, g.change(e, depth+1, nulls))
			default:
				out = append(out, e)
			}
		}
		return out
	}
	if g.IntN(2) == 0 {
		return fresh()
	}
	return v
}

// exact decodes JSON with another parser, numbers as exact fractions. What it
// gives is for reflect.DeepEqual: go-cmp takes exponential time on lists in
// lists that differ.
func exact(t *testing.T, raw []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case json.Number:
			r, ok := new(big.Rat).SetString(v.String())
			if !ok {
				t.Fatalf("%s is no number", v)
			}
			return "number " + r.String()
		case map[string]any:
			for key := range v {
				v[key] = walk(v[key])
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		}
		return v
	}
	return walk(v)
}

// mergePatch is the pseudocode of RFC 7386, section 2, word by word.
func mergePatch(target, patch any) any {
	members, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out, ok := target.(map[string]any)
	if !ok {
		out = map[string]any{}
	}
	for name, value := range members {
		if value == nil {
			delete(out, name)
		} else {
			out[name] = mergePatch(out[name], value)
		}
	}
	return out
}

// applyPatch applies a JSON Patch as RFC 6902 has it, to decoded JSON.
func applyPatch(t *testing.T, doc, patch any) any {
	t.Helper()
	for _, op := range patch.([]any) {
		op := op.(map[string]any)
		keys := strings.Split(op["path"].(string), "/")[1:]
		for i, key := range keys {
			keys[i] = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		}
		doc = patched(t, doc, keys, op["op"].(string), op["value"])
	}
	return doc
}

// patched returns the document after one operation.
func patched(t *testing.T, doc any, keys []string, op string, value any) any {
	t.Helper()
	key, last := keys[0], len(keys) == 1
	switch doc := doc.(type) {
	case map[string]any:
		old, has := doc[key]
		switch {
		case has == (op == "add") && last, !has && !last:
			t.Fatalf("%s of %q: it is there: %v", op, key, has)
		case !last:
			doc[key] = patched(t, old, keys[1:], op, value)
		case op == "remove":
			delete(doc, key)
		default:
			doc[key] = value
		}
		return doc
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil || strconv.Itoa(i) != key || i > len(doc) || i == len(doc) && (op != "add" || !last) {
			t.Fatalf("%s of element %q of %d", op, key, len(doc))
		}
		switch {
		case !last:
			doc[i] = patched(t, doc[i], keys[1:], op, value)
		case op == "remove":
			doc = slices.Delete(doc, i, i+1)
		case op == "add":
			doc = slices.Insert(doc, i, value)
		default:
			doc[i] = value
		}
		return doc
	}
	t.Fatalf("%s of %q in %v", op, key, doc)
	return nil
}

// apply checks that the patches applied to a by an independent implementation
// give b.
func apply(t *testing.T, a, b string, sel Selection, wantB string) {
	t.Helper()
	d := diff(t, a, b, sel)
	if got := applyPatch(t, exact(t, []byte(a)), exact(t, d.Patch())); !reflect.DeepEqual(exact(t, []byte(wantB)), got) {
		t.Fatalf("%s\n%s\n%s gives\n%v", a, b, d.Patch(), got)
	}
	if !bytes.Contains(d.Patch(), []byte("//")) { // evanphx takes an empty key for the object itself
		patch, err := jsonpatch.DecodePatch(d.Patch())
		if err != nil {
			t.Fatalf("%s\n%s\n%s: %v", a, b, d.Patch(), err)
		}
		got, err := patch.Apply([]byte(a))
		if err != nil {
			t.Fatalf("%s\n%s\n%s: %v", a, b, d.Patch(), err)
		}
		if !reflect.DeepEqual(exact(t, []byte(wantB)), exact(t, got)) {
			t.Fatalf("%s\n%s\n%s gives\n%s", a, b, d.Patch(), got)
		}
	}
	merge, err := d.MergePatch()
	if err != nil {
		return // judged by TestMergePatchOfNull and below
	}
	if got := mergePatch(exact(t, []byte(a)), exact(t, merge)); !reflect.DeepEqual(exact(t, []byte(wantB)), got) {
		t.Fatalf("%s\n%s\nmerge patch %s gives\n%v", a, b, merge, got)
	}
	if strings.Contains(b, "null") {
		return // evanphx takes nulls out of lists too, against RFC 7386
	}
	got, err := jsonpatch.MergePatch([]byte(a), merge)
	if err != nil {
		t.Fatalf("%s\n%s\n%s: %v", a, b, merge, err)
	}
	if !reflect.DeepEqual(exact(t, []byte(wantB)), exact(t, got)) {
		t.Fatalf("%s\n%s\nmerge patch %s gives\n%s", a, b, merge, got)
	}
}

func TestPatchesOfRandomMetadata(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(3, 4))}
	for i := range 3000 {
		nulls := i%2 == 0
		a := g.object(4, nulls)
		b := g.object(4, nulls)
		if i%3 > 0 {
			b = g.mutate(a, 0, nulls)
		}
		apply(t, a, b, Selection{}, b)
		if !nulls {
			if _, err := diff(t, a, b, Selection{}).MergePatch(); err != nil {
				t.Fatalf("%s\n%s: %v", a, b, err)
			}
		}
		if d := diff(t, a, b, Selection{}); d.Equal() != reflect.DeepEqual(exact(t, []byte(a)), exact(t, []byte(b))) {
			t.Fatalf("%s\n%s: Equal is %v", a, b, d.Equal())
		}
		if !diff(t, a, a, Selection{}).Equal() {
			t.Fatalf("%s differs from itself", a)
		}
	}
}

func TestPatchesOfSelectedKeys(t *testing.T) {
	a := `{"x":1,"y":{"z":[1,2]},"keep":{"n":1}}`
	b := `{"x":2,"y":{"z":[2,3]},"new":1}`
	apply(t, a, b, Selection{Ignore: []string{"keep", "x"}}, `{"x":1,"y":{"z":[2,3]},"keep":{"n":1},"new":1}`)
	apply(t, a, b, Selection{Only: []string{"keep"}}, `{"x":1,"y":{"z":[1,2]}}`)
}

func TestPatchesOfWideAndDeepMetadata(t *testing.T) {
	var a, b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&a, `,"k%d":[%d,{"v":%d}]`, i, i, i)
		fmt.Fprintf(&b, `,"k%d":[%d,{"v":%d}]`, i, i, i+i%7/6)
	}
	apply(t, "{"+a.String()[1:]+"}", "{"+b.String()[1:]+"}", Selection{}, "{"+b.String()[1:]+"}")
	deep := func(n int, in string) string {
		return strings.Repeat(`{"a":[`, n) + in + strings.Repeat(`]}`, n)
	}
	for _, n := range []int{1, 49, 50, 51, 300} {
		apply(t, deep(n, "1"), deep(n, "2,null"), Selection{}, deep(n, "2,null"))
	}
	objects := func(n int, in string) string {
		return strings.Repeat(`{"a":`, n) + in + strings.Repeat(`}`, n)
	}
	for _, n := range []int{99, 100, 101, 300} {
		apply(t, objects(n, `{"x":1}`), objects(n, `{"y":1}`), Selection{}, objects(n, `{"y":1}`))
	}
}

func TestPatchOfNothing(t *testing.T) {
	d := diff(t, `{"a":1}`, `{"a":1.0}`, Selection{})
	if got := string(d.Patch()); got != "[]" {
		t.Errorf("patch %s", got)
	}
	if got, err := d.MergePatch(); err != nil || string(got) != "{}" {
		t.Errorf("merge patch %s, %v", got, err)
	}
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}],"":"\u00e9"}`), []byte(`{"a":[1.0,{"b":2}],"~/":{}}`))
	f.Add([]byte(`{"a":1,"a":2}`), []byte(`{"a":{"a":[[],[1]]}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d, err := Compare(a, b, Selection{})
		if !json.Valid(a) || !json.Valid(b) {
			return // never gets here: a header is validated first; it must only not crash
		}
		isObject := func(raw []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) }
		if !isObject(a) || !isObject(b) {
			if err == nil {
				t.Fatal("no object, no error")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Changes {
			if c.From != nil && !json.Valid(c.From) || c.To != nil && !json.Valid(c.To) {
				t.Fatalf("%s: not JSON: %s %s", c.Path, c.From, c.To)
			}
		}
		if !json.Valid(d.Patch()) {
			t.Fatalf("not JSON: %s", d.Patch())
		}
		if merge, err := d.MergePatch(); err == nil && !json.Valid(merge) {
			t.Fatalf("not JSON: %s", merge)
		}
		back, err := Compare(b, a, Selection{})
		if err != nil || back.Equal() != d.Equal() {
			t.Fatalf("the other way round: %v, %v", back, err)
		}
	})
}
