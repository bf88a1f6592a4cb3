package metadiff

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

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

// Change is one difference. The changes of a [Diff] in their order are a
// patch: applied one after another to A they give B. For that, changes inside
// a list come before removals from it, the last element first, and those
// before what is added, so an index is A's in the former and B's in the last.
type Change struct {
	Path string          `json:"path"` // RFC 6901 pointer into the metadata
	Op   Op              `json:"op"`
	From json.RawMessage `json:"from"` // what A has; null where it has nothing
	To   json.RawMessage `json:"to"`   // what B has; null where it has nothing
}

// Diff is what two objects differ in.
type Diff struct {
	Changes []Change

	a, b *value
	use  func(key string) bool // nil: all keys count
}

// Equal tells whether nothing differs.
func (d *Diff) Equal() bool { return len(d.Changes) == 0 }

// Compare compares two JSON objects, given as bytes. sel says which of their
// keys count.
func Compare(a, b []byte, sel Selection) (*Diff, error) {
	va, err := parseObject(a)
	if err != nil {
		return nil, err
	}
	vb, err := parseObject(b)
	if err != nil {
		return nil, err
	}
	d := &Diff{Changes: []Change{}, a: va, b: vb, use: sel.resolve(va, vb)}
	if root := compare(va, vb, d.use); root.differs {
		d.collect(root, nil)
	}
	return d, nil
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
		c.From = p.a.appendTo(nil)
	}
	if p.b != nil {
		c.To = p.b.appendTo(nil)
	}
	d.Changes = append(d.Changes, c)
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// step gives the pointer one level deeper.
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
