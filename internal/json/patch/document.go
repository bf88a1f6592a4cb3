package patch

import (
	"errors"
	"fmt"
	"slices"

	"stchat/internal/jsonl/rawjson"
)

// Document is a JSON value that is changed many times. An object or list in it is read once, when
// a change leads into it, and written when all changes are made: so the cost of a change does not
// grow with the value.
type Document struct {
	raw    []byte // as it was read, or last written
	read   bool   // object or list is there, if the value is one
	object *rawjson.Object
	list   *rawjson.List
	inner  map[string]*Document // values of object that were read
	items  map[int]*Document    // elements of list that were read and may be changed

	changed bool // since it was read
	stale   bool // since raw was written
}

// NewDocument returns a document for one valid JSON value.
func NewDocument(raw []byte) *Document { return &Document{raw: raw} }

// Change makes changes. The error is that of the first that cannot be made.
func (d *Document) Change(c *Changes) error {
	if c.replacesOrMerges() {
		raw, err := c.merged(d.Bytes())
		if err != nil {
			return err
		}
		d.replace(raw)
	}

	if err := d.apply(c.Patch); err != nil {
		return err
	}
	return d.make(c.Edits)
}

// make makes edits one after another.
func (d *Document) make(edits []Edit) error {
	for _, e := range edits {
		if e.Value == nil {
			d.unset(e.Path)
			continue
		}
		switch err := d.set(e.Value, e.Path); {
		case errors.Is(err, ErrMissing): // it begins with the path
			return err
		case err != nil:
			return fmt.Errorf("%s: %w", e.Path, err)
		}
	}
	return nil
}

// parse reads the value if it is an object or a list, and reports whether it is.
func (d *Document) parse() bool {
	if !d.read {
		d.read = true
		switch rawjson.KindOf(d.raw) {
		case rawjson.ObjectKind:
			d.object, _ = rawjson.ParseObject(d.raw)
			d.inner = map[string]*Document{}
		case rawjson.Array:
			d.list, _ = rawjson.ParseList(d.raw)
			d.items = map[int]*Document{}
		}
	}
	return d.object != nil || d.list != nil
}

// child returns the value under a key of an object, or with an index of a list.
func (d *Document) child(key string) (*Document, bool) {
	if !d.parse() {
		return nil, false
	}
	if d.list != nil {
		i, ok := Index(key)
		if !ok || i >= d.list.Len() {
			return nil, false
		}
		if d.items[i] == nil {
			d.items[i] = &Document{raw: d.list.At(i)}
		}
		return d.items[i], true
	}

	if inner := d.inner[key]; inner != nil {
		return inner, true
	}
	raw, ok := d.object.Get(key)
	if ok {
		d.inner[key] = &Document{raw: raw}
	}
	return d.inner[key], ok
}

// at returns the value at a path.
func (d *Document) at(path Path) (*Document, bool) {
	for _, key := range path {
		inner, ok := d.child(key)
		if !ok {
			return nil, false
		}
		d = inner
	}
	return d, true
}

// Bytes returns the value with its changes.
func (d *Document) Bytes() []byte {
	if !d.stale {
		return d.raw
	}
	d.stale = false
	if d.list != nil {
		d.writeItems()
		d.raw = d.list.Bytes()
		return d.raw
	}

	for key, inner := range d.inner {
		if inner.changed {
			d.object.Set(key, inner.Bytes())
		}
	}

	d.raw = d.object.Bytes()
	return d.raw
}

// writeItems puts changed elements into the list. It must come before their indexes move.
func (d *Document) writeItems() {
	for i, item := range d.items {
		if item.changed {
			d.list.Set(i, item.Bytes())
		}
	}
}

// replace puts another value in place of the whole.
func (d *Document) replace(value []byte) { *d = Document{raw: value, changed: true} }

// change walks to the last container on the path and calls do to change it. do's at is the whole
// path, whose last key is the one in the container; walked is the part of it before d. If an
// object is missing on the way, it is created or, without create, the error is [ErrMissing].
func (d *Document) change(path, walked Path, create bool, do func(container *Document, at Path) error) error {
	at := append(slices.Clip(walked), path[0])
	d.parse()

	if len(path) == 1 {
		if err := do(d, at); err != nil {
			return err
		}
	} else {
		inner, err := d.step(path[0], at, create)
		if err != nil {
			return err
		}
		if err := inner.change(path[1:], at, create, do); err != nil {
			return err
		}
	}

	d.changed = true
	d.stale = true
	return nil
}

// step returns the value under a key, which is at's last. [Document.change] says what create means.
func (d *Document) step(key string, at Path, create bool) (*Document, error) {
	inner, ok := d.child(key)
	switch {
	case ok:
		return inner, nil
	case d.object != nil && create:
		d.setMember(key, []byte("{}"))
		inner, _ = d.child(key)
		return inner, nil
	case d.object != nil, d.list != nil:
		return nil, fmt.Errorf("%s: %w", at, ErrMissing)
	}
	return nil, d.noPlace(at)
}

// setMember sets the value of a key of an object.
func (d *Document) setMember(key string, value []byte) {
	delete(d.inner, key)
	d.object.Set(key, value)
}

// move prepares for elements of the list to get other indexes.
func (d *Document) move() {
	d.writeItems()
	clear(d.items)
}

// set puts value at the path. Missing objects on the way are created, lists are not; the key "-"
// appends to a list. The error names the place at which the path fails and wraps [ErrNoPlace], or
// [ErrMissing] for an index that a list does not have.
func (d *Document) set(value []byte, path Path) error {
	value = rawjson.Compact(value)
	if len(path) == 0 {
		d.replace(value)
		return nil
	}
	return d.change(path, nil, true, func(container *Document, at Path) error {
		key := at[len(at)-1]
		i, isIndex := Index(key)
		switch {
		case container.object != nil:
			container.setMember(key, value)
		case container.list == nil, !isIndex && key != "-":
			return container.noPlace(at)
		case key == "-":
			container.list.Insert(container.list.Len(), value)
		case i >= container.list.Len():
			return fmt.Errorf("%s: %w", at, ErrMissing)
		default:
			delete(container.items, i)
			container.list.Set(i, value)
		}
		return nil
	})
}

// unset is [Unset].
func (d *Document) unset(path Path) {
	if _, ok := d.at(path); ok && len(path) > 0 {
		_ = d.remove(path) // there is something to remove
	}
}

// remove removes the value at a path. The error wraps [ErrMissing] or [ErrNoPlace].
func (d *Document) remove(path Path) error {
	return d.change(path, nil, false, func(container *Document, at Path) error {
		key := at[len(at)-1]
		if _, ok := container.child(key); !ok {
			return absent(d, path)
		}
		if container.list != nil {
			i, _ := Index(key)
			container.move()
			container.list.Remove(i)
			return nil
		}

		delete(container.inner, key)
		container.object.Unset(key)
		return nil
	})
}

// add adds a value: in an object under its key, in a list before the element with the index, or
// at its end.
func (d *Document) add(value []byte, path Path) error {
	if len(path) == 0 {
		d.replace(value)
		return nil
	}
	return d.change(path, nil, false, func(container *Document, at Path) error {
		key := at[len(at)-1]
		i, isIndex := Index(key)
		switch {
		case container.object != nil:
			container.setMember(key, value)
			return nil
		case container.list == nil, !isIndex && key != "-":
			return container.noPlace(at)
		case key == "-":
			i = container.list.Len()
		case i > container.list.Len():
			return fmt.Errorf("%s: %w: the list has %d", at, ErrMissing, container.list.Len())
		}

		container.move()
		container.list.Insert(i, value)
		return nil
	})
}

// noPlace returns the error for a container that cannot hold the last key of at.
func (d *Document) noPlace(at Path) error {
	held := at[:len(at)-1].String()
	if held == "" {
		held = "the value"
	}
	kind := rawjson.KindOf(d.raw).String()
	if kind == rawjson.String.String() {
		kind = "a text, not an object"
	}
	return fmt.Errorf("%s is %s: %w %q", held, kind, ErrNoPlace, at[len(at)-1])
}
