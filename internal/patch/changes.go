package patch

import (
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
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
	return c.Replace == nil && c.Merge == nil && c.MergePatch == nil && c.Patch == nil && len(c.Edits) == 0
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

// Make returns raw with the edits made one after another. A key that exists keeps its place;
// a new one is appended. The error wraps [ErrNoPlace], or
// [ErrMissing] for an index that a list does not have.
func Make(raw []byte, edits []Edit) ([]byte, error) {
	return (&Changes{Edits: edits}).Apply(raw)
}

// LeaveOut removes from MergePatch and Patch what would change one of the keys, and returns
// the keys concerned. Test operations stay, since they change nothing.
func (c *Changes) LeaveOut(keys ...string) (left []string) {
	changes := func(path Path) bool { return len(path) > 0 && slices.Contains(keys, path[0]) }
	named := map[string]bool{}
	c.Patch = slices.DeleteFunc(slices.Clone(c.Patch), func(o Operation) bool {
		switch {
		case o.Op == "test":
			return false
		case changes(o.Path):
			named[o.Path[0]] = true
			return true
		case o.Op == "move" && changes(o.From):
			named[o.From[0]] = true
			return true
		}
		return false
	})
	if with, err := rawjson.ParseObject(c.MergePatch); err == nil {
		for _, key := range keys {
			if with.Has(key) {
				named[key] = true
				with.Unset(key)
			}
		}
		c.MergePatch = with.Bytes()
	}
	for _, key := range keys {
		if named[key] {
			left = append(left, key)
		}
	}
	return left
}

// ParseValue reads a VALUE that may be JSON. It returns valid JSON on one line, and any other
// text as a JSON string.
func ParseValue(s string) []byte {
	if raw := []byte(s); jsonl.Valid(raw) {
		return rawjson.Compact(raw)
	}
	return rawjson.Quote(s)
}
