package metadiff

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// Op is what happened to a value, by its name in RFC 6902.
type Op string

// The operations.
const (
	Add     Op = "add"
	Remove  Op = "remove"
	Replace Op = "replace"
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
	d.objects(oa, ob, place{level: 1}, d.use)
	return d, nil
}

// parseObject reads an object that is valid JSON to its bottom.
func parseObject(raw []byte) (*rawjson.Object, error) {
	if !jsonl.Valid(raw) {
		return nil, errSyntax
	}
	return rawjson.ParseObject(raw)
}

// place is where in the metadata an object or list is.
type place struct {
	path  []byte // RFC 6901 pointer
	level int    // of what is in it, from 1
	size  int    // about the length of the path
}

// objects adds the changes between two objects. Of their members only those that
// are not byte for byte the same are parsed, a run of them at a time: there may be
// millions.
func (d *Diff) objects(a, b *rawjson.Object, at place, use func(key string) bool) {
	run := run{diff: d, at: at}
	for key, raw := range a.All() {
		if use != nil && !use(key) {
			continue
		}
		other, ok := b.Get(key)
		if ok && bytes.Equal(raw, other) {
			continue
		}
		if rawjson.KindOf(raw) != rawjson.ObjectKind || rawjson.KindOf(other) != rawjson.ObjectKind || !at.leadsOn(key) {
			run.add(key, raw, other)
			continue
		}
		run.flush()
		innerA, errA := rawjson.ParseObject(raw)
		innerB, errB := rawjson.ParseObject(other)
		if errA == nil && errB == nil { // they are valid
			d.objects(innerA, innerB, at.enter(key), nil)
		}
	}
	for key, raw := range b.All() {
		if !a.Has(key) && (use == nil || use(key)) {
			run.add(key, nil, raw)
		}
	}
	run.flush()
}

// leadsOn reports whether changes in the member with a key are reported one by one.
func (at place) leadsOn(key string) bool {
	return at.level < maxLevels && at.longer(key) <= maxPath
}

func (at place) longer(key string) int { return at.size + len(key) + len("/0") }

// enter returns the place of the member with a key.
func (at place) enter(key string) place {
	path := append(slices.Clip(at.path), '/')
	path = append(path, pointerEscaper.Replace(key)...)
	return place{path: path, level: at.level + 1, size: at.longer(key)}
}

// run is consecutive members of two objects to compare.
type run struct {
	diff *Diff
	at   place
	a, b value
}

// add adds a member, given as bytes; nil where a side has none.
func (r *run) add(key string, a, b []byte) {
	if len(r.a.members)+len(r.b.members) >= wide {
		r.flush()
	}
	r.a.putRaw(key, a)
	r.b.putRaw(key, b)
}

// flush adds the changes between the members so far.
func (r *run) flush() {
	r.a.kind, r.b.kind = rawjson.ObjectKind, rawjson.ObjectKind
	if root := compare(&r.a, &r.b, r.at); root.differs {
		r.diff.collect(root, r.at.path)
	}
	r.a, r.b = value{}, value{}
}

// collect adds the changes inside a pair of objects or lists.
func (d *Diff) collect(p *pair, path []byte) {
	isList := p.a.kind == rawjson.Array
	var removed, added []*pair
	for _, child := range p.children {
		switch {
		case !child.differs:
		case child.a == nil:
			added = append(added, child)
		case child.b == nil && isList:
			removed = append(removed, child)
		case child.b == nil:
			d.change(Remove, child, step(path, child, isList))
		case child.children != nil:
			d.collect(child, step(path, child, isList))
		default:
			d.change(Replace, child, step(path, child, isList))
		}
	}
	for _, r := range slices.Backward(removed) {
		d.change(Remove, r, step(path, r, true))
	}
	for _, child := range added {
		d.change(Add, child, step(path, child, isList))
	}
}

func (d *Diff) change(op Op, p *pair, path []byte) {
	c := Change{Path: string(path), Op: op}
	if p.a != nil {
		c.From = p.a.json()
	}
	if p.b != nil {
		c.To = p.b.json()
	}
	d.Changes = append(d.Changes, c)
}

// Meanings describes what A and B have or do not have in common, where the keys'
// meaning is known (FORMATS.md B2 and E3). Keys that do not count are skipped. A
// and B stand for the two chats; a and b are their names.
func (d *Diff) Meanings(a, b string) []string {
	m := meanings{d: d}
	m.parents(a, b)
	m.integrity()
	m.lorebook()
	m.recap()
	m.illustrator()
	return m.lines
}

// Patch returns the JSON Patch (RFC 6902) that turns A into B, one operation per
// line.
func (d *Diff) Patch() []byte {
	out := []byte{'['}
	for i, c := range d.Changes {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, "\n  {\"op\":\""...)
		out = append(out, c.Op...)
		out = append(out, "\",\"path\":"...)
		out = append(out, rawjson.Quote(c.Path)...)
		if c.Op != Remove {
			out = append(out, ",\"value\":"...)
			out = append(out, c.To...)
		}
		out = append(out, '}')
	}
	if len(d.Changes) > 0 {
		out = append(out, '\n')
	}
	return append(out, ']')
}

// MergePatch returns the JSON Merge Patch (RFC 7386) that turns A into B. The
// error is a [*NullError] where there is none.
func (d *Diff) MergePatch() ([]byte, error) {
	m := merger{out: []byte{'{'}}
	for key := range d.a.All() {
		if !d.b.Has(key) && d.counts(key) {
			m.key(key)
			m.out = append(m.out, "null"...)
		}
	}
	for key, raw := range d.b.All() {
		other := d.a.Value(key)
		if !d.counts(key) || bytes.Equal(raw, other) {
			continue
		}
		var was, is value // parsed one after the other: there may be millions
		was.putRaw(key, other)
		is.putRaw(key, raw)
		for _, member := range is.members {
			if err := m.member(key, was.at(key), member.val); err != nil {
				return nil, err
			}
		}
	}
	return append(m.out, '}'), nil
}

func (d *Diff) counts(key string) bool { return d.use == nil || d.use(key) }

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// step returns the pointer one level deeper.
func step(path []byte, child *pair, isList bool) []byte {
	path = append(slices.Clip(path), '/')
	if !isList {
		return append(path, pointerEscaper.Replace(child.key)...)
	}
	if child.a == nil {
		return strconv.AppendInt(path, int64(child.ib), 10)
	}
	return strconv.AppendInt(path, int64(child.ia), 10)
}

// Equal reports whether two JSON values are the same: numbers as exact decimals, keys
// in any order, of a repeated key the last value. Invalid JSON equals nothing.
func Equal(a, b []byte) bool {
	left, err := parse(a)
	if err != nil {
		return false
	}
	right, err := parse(b)
	return err == nil && equal(left, right)
}
