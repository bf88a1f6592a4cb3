// Package patch changes one JSON value as the flags of meta set and edit
// ask: it sets and removes keys and pointers, merges objects in, and applies RFC 7386
// and RFC 6902 patches. Bytes that no change names stay as they are, and inserted values
// keep their own spelling, on one line.
//
// If an object repeats a key, the last occurrence counts, as in JSON.parse: setting
// changes that one, removing removes all of them.
package patch

import (
	"errors"
	"fmt"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
)

// Changes are the changes to one value, in the order in which they are made.
type Changes struct {
	Replace    []byte      // replaces the whole value
	Merge      []byte      // an object to merge in, shallow
	MergePatch []byte      // RFC 7386
	Patch      []Operation // RFC 6902
	Edits      []Edit
}

// Edit sets or removes one value.
type Edit struct {
	Path  Path
	Value []byte // one valid JSON value; nil: remove it
}

// Empty reports whether there are no changes.
func (c *Changes) Empty() bool {
	return !c.replacesOrMerges() && c.Patch == nil && len(c.Edits) == 0
}

// replacesOrMerges reports whether there are changes that [Changes.merged] makes.
func (c *Changes) replacesOrMerges() bool {
	return c.Replace != nil || c.Merge != nil || c.MergePatch != nil
}

// Apply returns raw, which must be one valid JSON value, with the changes made. The error is
// that of the first change that cannot be made.
func (c *Changes) Apply(raw []byte) ([]byte, error) {
	d := NewDocument(raw)
	if err := d.Change(c); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

// merged returns raw with Replace, Merge and MergePatch made.
func (c *Changes) merged(raw []byte) (_ []byte, err error) {
	if c.Replace != nil {
		raw = rawjson.Compact(c.Replace)
	}
	if c.Merge != nil {
		if raw, err = Merge(raw, c.Merge); err != nil {
			return nil, err
		}
	}

	if c.MergePatch != nil {
		return MergePatch(raw, c.MergePatch)
	}
	return raw, nil
}

// Documents returns raw with all changes made except Edits.
func (c *Changes) Documents(raw []byte) ([]byte, error) {
	without := *c
	without.Edits = nil
	return without.Apply(raw)
}

// LeaveOut removes from Merge, MergePatch and Patch what would change one of the keys, and returns
// the keys concerned. Test operations stay, since they change nothing.
func (c *Changes) LeaveOut(keys ...string) []string {
	changes := func(path Path) bool { return len(path) > 0 && slices.Contains(keys, path[0]) }
	named := map[string]bool{}
	c.Patch = slices.DeleteFunc(slices.Clone(c.Patch), func(o Operation) bool {
		path := o.Path
		if o.Op == "move" && !changes(path) {
			path = o.From
		}
		if o.Op == "test" || !changes(path) {
			return false
		}
		named[path[0]] = true
		return true
	})

	for _, document := range []*[]byte{&c.Merge, &c.MergePatch} {
		with, err := rawjson.ParseObject(*document)
		if err != nil {
			continue
		}
		for _, key := range keys {
			if with.Has(key) {
				named[key] = true
				with.Unset(key)
			}
		}
		*document = with.Bytes()
	}

	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !named[key] })
}

// Touches returns those of some keys that the changes may change, in the order of the keys. A change of the
// whole object may change each of them.
func (c *Changes) Touches(keys ...string) (touched []string) {
	copied := *c // LeaveOut takes from it what it names
	named := copied.LeaveOut(keys...)
	for _, key := range keys {
		if slices.Contains(named, key) || c.mayReach(key) {
			touched = append(touched, key)
		}
	}
	return touched
}

// mayReach reports whether a change of the whole object, or an edit of what it holds, may change a key.
func (c *Changes) mayReach(key string) bool {
	isWhole := func(o Operation) bool { return o.Op != "test" && len(o.Path) == 0 }
	reaches := func(e Edit) bool { return len(e.Path) == 0 || e.Path[0] == key }
	return slices.ContainsFunc(c.Patch, isWhole) || slices.ContainsFunc(c.Edits, reaches)
}

// ParseValue reads a VALUE that may be JSON. It returns valid JSON on one line, and any other
// text as a JSON string.
func ParseValue(s string) []byte {
	if raw := []byte(s); jsonl.Valid(raw) {
		return rawjson.Compact(raw)
	}
	return rawjson.Quote(s)
}

// ErrMissing means that a path does not lead to anything.
var ErrMissing = errors.New("there is no such value")

// ErrNoPlace means that a path leads through something that cannot hold the key: a
// string, a number, or a list if the key is not an index.
var ErrNoPlace = errors.New("it has no key")

// Get returns the raw value at the path; ok is false if there is none.
func Get(raw []byte, path Path) (value []byte, ok bool) {
	for _, key := range path {
		switch rawjson.KindOf(raw) {
		case rawjson.ObjectKind:
			if raw, ok = rawjson.Lookup(raw, key); !ok {
				return nil, false
			}
		case rawjson.Array:
			if raw, ok = element(raw, key); !ok {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return raw, true
}

func element(list []byte, key string) ([]byte, bool) {
	at, ok := Index(key)
	if !ok {
		return nil, false
	}
	place, ok := rawjson.ElementPlace(list, at)
	return list[place.At:place.End:place.End], ok
}

// Unset returns raw without the value at the path, or raw itself if there is none or the
// path is empty.
func Unset(raw []byte, path Path) []byte {
	d := NewDocument(raw)
	d.unset(path)
	return d.Bytes()
}

// absent returns the error for a path that leads to nothing: [ErrNoPlace] if a key for a
// list is not an index, else [ErrMissing].
func absent(d *Document, path Path) error {
	for i, key := range path {
		d.parse()
		_, isIndex := Index(key)
		namesElement := isIndex || key == "-"
		if d.list != nil && !namesElement {
			return d.noPlace(path[:i+1])
		}

		inner, ok := d.child(key)
		if !ok {
			break
		}
		d = inner
	}
	return fmt.Errorf("%s: %w", path, ErrMissing)
}

// Merge returns {...raw, ...with}, shallow, as SillyTavern merges metadata: a key that
// exists keeps its place; a new one is appended as it is spelled in with. The error says
// that raw or with is not a valid JSON object.
func Merge(raw, with []byte) ([]byte, error) {
	current, err := object(raw)
	if err != nil {
		return nil, err
	}
	if _, err := object(with); err != nil {
		return nil, fmt.Errorf("what is to be merged: %w", err)
	}
	for key, value := range rawjson.Members(with) {
		current.SetRaw(key, rawjson.Compact(value))
	}
	return current.Bytes(), nil
}

// MergePatch returns raw with an RFC 7386 merge patch applied: null removes a key, objects
// are merged into objects, everything else replaces what is there. The error says that with
// is not valid JSON.
func MergePatch(raw, with []byte) ([]byte, error) {
	if damage := jsonl.Check(with); damage != nil {
		return nil, fmt.Errorf("the merge patch: %w", damage)
	}
	return mergePatch(raw, with), nil
}

func mergePatch(raw, with []byte) []byte {
	if rawjson.KindOf(with) != rawjson.ObjectKind {
		return rawjson.Compact(with)
	}
	current, err := rawjson.ParseObject(raw)
	if err != nil {
		current = rawjson.NewObject()
	}
	patch, err := rawjson.ParseObject(with) // in which the last of a repeated key counts
	if err != nil {
		return raw
	}

	for key, value := range patch.All() {
		if rawjson.KindOf(value) == rawjson.Null {
			current.Unset(key)
			continue
		}

		inner := current.Value(key)
		merged := mergePatch(inner, value)
		if inner == nil || string(merged) != string(inner) {
			current.Set(key, merged)
		}
	}
	return current.Bytes()
}

// object validates and parses an object.
func object(raw []byte) (*rawjson.Object, error) {
	if damage := jsonl.Check(raw); damage != nil {
		return nil, damage
	}
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, fmt.Errorf("%w but %s", err, rawjson.KindOf(raw))
	}
	return o, nil
}
