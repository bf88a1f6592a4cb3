// Package metadiff compares two JSON objects, the metadata of two chats, and
// returns the differences as a list of changes, as a JSON Patch (RFC 6902) and
// as a JSON Merge Patch (RFC 7386). Each of the patches turns the first object
// into the second.
//
// Values compare as SillyTavern reads them: an object's keys in any order, the
// last of repeated keys, strings decoded, and numbers as exact decimals, so
// that 1.0 is 1 and 9007199254740993 is not 9007199254740992, although both
// are one number to JavaScript.
//
// Members are compared by key, the elements of lists by position, behind a common start
// and before a common end. Of the two objects' members only those are decoded whose bytes
// differ.
//
// The package reads and writes no files and does not know what any key means.
package metadiff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
)

// Op is what happened to a value, by its name in RFC 6902.
type Op string

// The operations.
const (
	Add     Op = "add"
	Remove  Op = "remove"
	Replace Op = "replace"
)

// Changes are reported one by one down to maxLevels, and as long as the path to
// them is no longer than maxPath bytes. What differs deeper down is reported as the
// change of the value there, so that the paths of a hostile document stay short.
const (
	maxLevels = 100
	maxPath   = 2048
)

// Change is one difference. The changes of a [Diff] in their order are a patch:
// applied one after another they turn A into B. For that, changes inside a list
// come before removals from it, the last element first, and those before what is
// added, so an index is A's in the former and B's in the last.
type Change struct {
	Path string          `json:"path"` // RFC 6901 pointer into the metadata
	Op   Op              `json:"op"`
	From json.RawMessage `json:"from"` // what A has; null where it has nothing
	To   json.RawMessage `json:"to"`   // what B has; null where it has nothing
}

// Diff is what two objects differ in.
type Diff struct {
	Changes []Change
	Absent  []string // of what a selection has in Only: what is or matches no key of either

	a, b *rawjson.Object
	use  func(key string) bool // nil: all keys count
}

// Equal reports whether nothing differs.
func (d *Diff) Equal() bool { return len(d.Changes) == 0 }

// Compare compares two JSON objects, given as bytes. sel says which of their
// keys count.
func Compare(a, b []byte, sel Selection) (*Diff, error) {
	oa, err := parseObject(a)
	if err != nil {
		return nil, err
	}
	ob, err := parseObject(b)
	if err != nil {
		return nil, err
	}
	d := &Diff{a: oa, b: ob, use: sel.resolve(oa, ob)}

	// what Only names and neither has
	keys := slices.Concat(oa.Keys(), ob.Keys())
	for _, p := range sel.Only {
		matches := Selection{Only: []string{p}}.resolve(oa, ob)
		if !slices.ContainsFunc(keys, matches) {
			d.Absent = append(d.Absent, p)
		}
	}

	d.objects(place{path: make([]byte, 0, 2*maxPath), level: 1}, oa, ob, d.counts)
	return d, nil
}

// parseObject reads an object that is valid JSON to its bottom.
func parseObject(raw []byte) (*rawjson.Object, error) {
	if !jsonl.Valid(raw) {
		return nil, errors.New("not valid JSON")
	}
	return rawjson.ParseObject(raw)
}

// decode reads valid JSON.
func decode(raw []byte) jsvalue.Value {
	v, _ := jsvalue.ParseExact(raw)
	return v
}

func (d *Diff) counts(key string) bool { return d.use == nil || d.use(key) }

// Both returns what the two objects have at a path of keys, as raw values, nil where there is nothing.
// Nothing counts whose first key the selection leaves out.
func (d *Diff) Both(path ...string) (a, b []byte) {
	if !d.counts(path[0]) {
		return nil, nil
	}
	a = rawjson.Value(d.a.Value(path[0]), path[1:]...)
	b = rawjson.Value(d.b.Value(path[0]), path[1:]...)
	return a, b
}

// place is where in the metadata a value is.
type place struct {
	path  []byte // RFC 6901 pointer; its bytes are the next place's at the same level, too
	level int    // of what is in it, from 1
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func (at place) member(key string) place {
	return place{append(append(at.path, '/'), pointerEscaper.Replace(key)...), at.level + 1}
}

func (at place) element(i int) place {
	return place{strconv.AppendInt(append(at.path, '/'), int64(i), 10), at.level + 1}
}

// value adds the changes between two values at one place.
func (d *Diff) value(at place, a, b []byte) {
	kind := rawjson.KindOf(a)
	switch {
	case kind != rawjson.KindOf(b):
	case at.level > maxLevels || len(at.path) > maxPath: // too deep for changes one by one
	case kind == rawjson.ObjectKind:
		oa, errA := rawjson.ParseObject(a)
		ob, errB := rawjson.ParseObject(b)
		if errA == nil && errB == nil { // they are valid
			d.objects(at, oa, ob, func(string) bool { return true })
		}
		return
	case kind == rawjson.Array:
		d.lists(at, slices.Collect(rawjson.Elements(a)), slices.Collect(rawjson.Elements(b)))
		return
	}

	if !Equal(a, b) {
		d.change(Replace, at, a, b)
	}
}

// objects adds the changes between two objects: of A's members in their order, then the
// members that only B has. There may be millions: those of the same bytes are passed over.
func (d *Diff) objects(at place, a, b *rawjson.Object, counts func(key string) bool) {
	for key, raw := range a.All() {
		other, ok := b.Get(key)
		switch {
		case !counts(key) || ok && bytes.Equal(raw, other):
		case ok:
			d.value(at.member(key), raw, other)
		default:
			d.change(Remove, at.member(key), raw, nil)
		}
	}

	for key, raw := range b.All() {
		if !a.Has(key) && counts(key) {
			d.change(Add, at.member(key), nil, raw)
		}
	}
}

// lists adds the changes between two lists. Their elements are compared by position,
// behind the start and before the end that they have in common: so an element that was
// put in or taken out in one place is one change.
func (d *Diff) lists(at place, a, b [][]byte) {
	most := min(len(a), len(b))
	start := 0
	for start < most && same(a[start], b[start]) {
		start++
	}

	rest := most - start
	if len(a) == len(b) {
		rest-- // the first of the rest is not like the other list's
	}
	end := 0
	for end < rest && same(a[len(a)-1-end], b[len(b)-1-end]) {
		end++
	}

	for i := start; i < most-end; i++ {
		d.value(at.element(i), a[i], b[i])
	}
	for i := len(a) - end - 1; i >= most-end; i-- {
		d.change(Remove, at.element(i), a[i], nil)
	}
	for i := most - end; i < len(b)-end; i++ {
		d.change(Add, at.element(i), nil, b[i])
	}
}

// change adds a change; from is nil for what is added, to for what is removed.
func (d *Diff) change(op Op, at place, from, to []byte) {
	c := Change{Path: string(at.path), Op: op}
	if op != Add {
		c.From = jsvalue.Stringify(decode(from))
	}
	if op != Remove {
		c.To = jsvalue.Stringify(decode(to))
	}
	d.Changes = append(d.Changes, c)
}

// Patch returns the JSON Patch (RFC 6902) that turns A into B, one operation per
// line.
func (d *Diff) Patch() []byte {
	if d.Equal() {
		return []byte("[]")
	}
	var out []byte
	before := byte('[')
	for _, c := range d.Changes {
		out = fmt.Appendf(out, "%c\n  {\"op\":\"%s\",\"path\":%s", before, c.Op, rawjson.Quote(c.Path))
		if c.Op != Remove {
			out = append(append(out, `,"value":`...), c.To...)
		}
		out = append(out, '}')
		before = ','
	}
	return append(out, "\n]"...)
}

// equal compares two decoded values. It recurses as deep as they are nested.
func equal(a, b jsvalue.Value) bool {
	switch a := a.(type) {
	case *jsvalue.Array:
		b, ok := b.(*jsvalue.Array)
		return ok && slices.EqualFunc(a.Items, b.Items, equal)
	case *jsvalue.Object:
		b, ok := b.(*jsvalue.Object)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for _, key := range a.Keys() {
			va, _ := a.Get(key)
			if vb, ok := b.Get(key); !ok || !equal(va, vb) {
				return false
			}
		}
		return true
	}
	return a == b || cmp.Equal(a, b) // for numbers, that asks Number.Equal
}

// same is [Equal] for valid JSON.
func same(a, b []byte) bool { return bytes.Equal(a, b) || Equal(a, b) }

// Equal reports whether two JSON values are the same: numbers as exact decimals, keys
// in any order, of a repeated key the last value. Invalid JSON equals nothing.
func Equal(a, b []byte) bool {
	left, okA := jsvalue.ParseExact(a)
	right, okB := jsvalue.ParseExact(b)
	return okA && okB && equal(left, right)
}

// Selection says which top-level keys of the metadata count. A pattern that is
// itself a key of A or of B means that key and nothing else; every other
// pattern is a glob, with *, ?, [a-z] and \ to take the next character as it
// is. A * also matches a slash.
type Selection struct {
	Ignore []string // these do not count
	Only   []string // where there are any, nothing else counts
}

// resolve returns the function that reports whether a key counts; nil: all do.
func (s Selection) resolve(a, b *rawjson.Object) func(key string) bool {
	if len(s.Ignore) == 0 && len(s.Only) == 0 {
		return nil
	}

	matcher := func(patterns []string) (matches func(key string) bool) {
		literal := map[string]bool{}
		var globs []string
		for _, p := range patterns {
			if a.Has(p) || b.Has(p) || !strings.ContainsAny(p, `*?[\`) {
				literal[p] = true
			} else {
				globs = append(globs, noSlash(p))
			}
		}
		return func(key string) bool {
			return literal[key] || slices.ContainsFunc(globs, func(glob string) bool {
				// a glob that is malformed, such as "[", matches nothing
				ok, err := path.Match(glob, noSlash(key))
				return ok && err == nil
			})
		}
	}

	ignored := matcher(s.Ignore)
	chosen := matcher(s.Only)
	return func(key string) bool {
		return !ignored(key) && (len(s.Only) == 0 || chosen(key))
	}
}

// noSlash hides slashes, which are special to path.Match.
func noSlash(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
