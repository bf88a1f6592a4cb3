package patch

import (
	"errors"
	"fmt"
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
	raw, err := c.Documents(raw)
	if err != nil {
		return nil, err
	}
	return Make(raw, c.Edits)
}

// Splice returns the only change that [Changes.Apply] makes to an object, where that is to set
// one value on a path through objects; ok is false for everything else.
func (c *Changes) Splice(object []byte) (s rawjson.Splice, ok bool) {
	if c.Replace != nil || c.Merge != nil || c.MergePatch != nil || len(c.Patch) > 0 || len(c.Edits) != 1 {
		return s, false
	}
	e := &c.Edits[0]
	if e.Value == nil || len(e.Path) == 0 {
		return s, false
	}
	s, err := rawjson.SetSplice(object, rawjson.Compact(e.Value), e.Path...)
	return s, err == nil
}

// Documents returns raw with all changes made except Edits.
func (c *Changes) Documents(raw []byte) (_ []byte, err error) {
	if c.Replace != nil {
		raw = rawjson.Compact(c.Replace)
	}
	if c.Merge != nil {
		if raw, err = Merge(raw, c.Merge); err != nil {
			return nil, err
		}
	}
	if c.MergePatch != nil {
		if raw, err = MergePatch(raw, c.MergePatch); err != nil {
			return nil, err
		}
	}
	return Apply(raw, c.Patch)
}

// Make returns raw with the edits made one after another. A key that exists keeps its place;
// a new one is appended. The error is that of [Set].
func Make(raw []byte, edits []Edit) (_ []byte, err error) {
	for _, e := range edits {
		if e.Value == nil {
			raw = Unset(raw, e.Path)
			continue
		}
		switch raw, err = Set(raw, e.Value, e.Path); {
		case errors.Is(err, ErrMissing): // it begins with the path
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%s: %w", e.Path, err)
		}
	}
	return raw, nil
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
