package metadiff

import (
	"bytes"
	"slices"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/rawjson"
)

// Changes are reported one by one down to maxLevels, and as long as the path to
// them is no longer than maxPath bytes. What differs deeper down is reported as the
// change of the value there, so that the paths of a hostile document stay short.
const (
	maxLevels = 100
	maxPath   = 2048
)

// pair is two values side by side: a member of both objects, or an element of
// both lists. One of them is nil where the other side has nothing.
type pair struct {
	a, b *value
	key  string // in an object
	ia   int    // in a list: the place in A's list
	ib   int    // in a list: the place in B's list

	children []*pair // where both are objects or both are lists
	differs  bool    // it, or something in it
}

// compare lays the objects of a place side by side and lets cmp mark what differs.
func compare(a, b *value, at place) *pair {
	root := &pair{a: a, b: b, children: pairMembers(a, b)}
	if len(root.children) > 0 {
		root.descend(at.level, at.size)
		cmp.Equal(root.tree(sideA), root.tree(sideB), cmp.Reporter(&reporter{root: root}))
	}
	return root
}

// descend pairs what is inside the pair's children; path is the length of its own.
func (p *pair) descend(level, path int) {
	for _, child := range p.children {
		longer := path + len(child.key) + len("/0")
		switch {
		case child.a == nil || child.b == nil || child.a.kind != child.b.kind:
			continue
		case level == maxLevels || longer > maxPath:
			continue
		case child.a.kind == rawjson.ObjectKind:
			child.children = pairMembers(child.a, child.b)
		case child.a.kind == rawjson.Array:
			child.children = pairElements(child.a.elems, child.b.elems)
		default:
			continue
		}
		child.descend(level+1, longer)
	}
}

// pairMembers pairs the members of two objects by key: A's in A's order, then
// those that only B has, in B's. What is byte for byte the same is left out.
func pairMembers(a, b *value) []*pair {
	var pairs []*pair
	for _, m := range a.members {
		p := &pair{a: m.val, key: m.key}
		if i := b.find(m.key); i >= 0 {
			p.b = b.members[i].val
			if bytes.Equal(p.a.raw, p.b.raw) {
				continue
			}
		}
		pairs = append(pairs, p)
	}
	for _, m := range b.members {
		if a.find(m.key) < 0 {
			pairs = append(pairs, &pair{b: m.val, key: m.key})
		}
	}
	return pairs
}

// pairElements pairs the elements of two lists by position, behind the start
// and before the end that they have in common: so an element that was put in
// or taken out in one place is one change.
func pairElements(a, b []*value) []*pair {
	start := 0
	for start < min(len(a), len(b)) && equal(a[start], b[start]) {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && equal(a[len(a)-1-end], b[len(b)-1-end]) {
		end++
	}
	var pairs []*pair
	for i := start; i < max(len(a), len(b))-end; i++ {
		p := &pair{ia: i, ib: i}
		if i < len(a)-end {
			p.a = a[i]
		}
		if i < len(b)-end {
			p.b = b[i]
		}
		if p.a == nil || p.b == nil || !bytes.Equal(p.a.raw, p.b.raw) {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// equal compares two values whole. It recurses as deep as they are nested.
func equal(a, b *value) bool {
	if a.kind != b.kind {
		return false
	}
	// A container's bytes are not compared first: at every level again, that
	// would be quadratic in a deep document.
	switch a.kind {
	case rawjson.ObjectKind:
		if len(a.members) != len(b.members) {
			return false
		}
		for _, m := range a.members {
			i := b.find(m.key)
			if i < 0 || !equal(m.val, b.members[i].val) {
				return false
			}
		}
		return true
	case rawjson.Array:
		return slices.EqualFunc(a.elems, b.elems, equal)
	case rawjson.String:
		return bytes.Equal(a.raw, b.raw) || a.text() == b.text()
	case rawjson.Number:
		return bytes.Equal(a.raw, b.raw) || decimalOf(a.raw) == decimalOf(b.raw)
	}
	return bytes.Equal(a.raw, b.raw) // true, false or null
}

// What cmp compares. Objects and lists are maps from a pair's place to the
// value there, so that cmp never has to align anything.
type (
	object  map[int]any
	list    map[int]any
	text    string
	boolean bool
	null    struct{}
	whole   struct{ of *value } // what is too deep, or is not like the other side
)

// Equal is what cmp asks.
func (d decimal) Equal(e decimal) bool { return d == e }

// Equal is what cmp asks.
func (w whole) Equal(x whole) bool { return equal(w.of, x.of) }

type side int

const (
	sideA side = iota
	sideB
)

func (p *pair) at(s side) *value {
	if s == sideA {
		return p.a
	}
	return p.b
}

// tree returns one side of a pair as a value for cmp.
func (p *pair) tree(s side) any {
	v := p.at(s)
	other := p.at(1 - s)
	switch v.kind {
	case rawjson.ObjectKind, rawjson.Array:
		if p.children == nil && (other == nil || other.kind == v.kind) {
			return whole{v} // equal but for their spelling, or too deep
		}
		m := p.branches(s)
		if v.kind == rawjson.Array {
			return list(m)
		}
		return object(m)
	case rawjson.String:
		return text(v.text())
	case rawjson.Number:
		return decimalOf(v.raw)
	case rawjson.Bool:
		return boolean(v.raw[0] == 't')
	}
	return null{}
}

// wide is how many children one map for cmp holds at most: cmp sorts the keys
// of a map, in more than linear time. More children become a map of maps.
const wide = 256

// branches returns the children's values on one side by their places.
func (p *pair) branches(s side) map[int]any {
	run := func(children []*pair) map[int]any {
		m := make(map[int]any, len(children))
		for i, child := range children {
			if child.at(s) != nil {
				m[i] = child.tree(s)
			}
		}
		return m
	}
	if len(p.children) <= wide {
		return run(p.children)
	}
	m := make(map[int]any, len(p.children)/wide+1)
	for i := 0; i < len(p.children); i += wide {
		m[i] = run(p.children[i:min(i+wide, len(p.children))])
	}
	return m
}

// reporter marks the pairs that cmp finds different, and those around them.
type reporter struct {
	root  *pair
	steps []int // places of the map steps of the current path
	path  cmp.Path
}

func (r *reporter) PushStep(step cmp.PathStep) {
	r.path = append(r.path, step)
	if m, ok := step.(cmp.MapIndex); ok {
		r.steps = append(r.steps, int(m.Key().Int()))
	}
}

func (r *reporter) PopStep() {
	last := len(r.path) - 1
	if _, ok := r.path[last].(cmp.MapIndex); ok {
		r.steps = r.steps[:len(r.steps)-1]
	}
	r.path = r.path[:last]
}

func (r *reporter) Report(res cmp.Result) {
	if res.Equal() {
		return
	}
	p := r.root
	p.differs = true
	for i := 0; i < len(r.steps); i++ {
		at := r.steps[i]
		if len(p.children) > wide {
			i++
			at += r.steps[i]
		}
		p = p.children[at]
		p.differs = true
	}
}
