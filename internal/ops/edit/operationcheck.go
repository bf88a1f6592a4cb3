package edit

import (
	"fmt"
	"slices"

	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

// check refuses an operation with a key that it does not know, or with a value of another kind
// than the key takes: a slip that would otherwise go unnoticed.
func (o *operation) check() error {
	for key := range rawjson.Members(o.line) {
		name, _ := rawjson.Unquote(key)
		if name != "op" && !slices.Contains(keysOf(o.op), name) {
			return fmt.Errorf("%w: %s has no %q", ErrOperation, o.op, name)
		}
	}
	for _, k := range []struct {
		key  int
		kind rawjson.Kind
		text string
	}{
		{keyMessage, rawjson.ObjectKind, "message is %s, not an object"},
		{keySet, rawjson.ObjectKind, "set is %s, not an object"},
		{keyUnset, rawjson.Array, "unset is %s, not a list of keys"},
		{keyMerge, rawjson.ObjectKind, "merge is %s, not an object"},
		{keyDelete, rawjson.Number, "delete is %s, not a swipe's number"},
		{keySHA256, rawjson.String, "sha256 is %s, not a string"},
	} {
		if kind := rawjson.KindOf(o.get(k.key)); o.has(k.key) && kind != k.kind {
			return fmt.Errorf("%w: "+k.text, ErrOperation, kind)
		}
	}
	if o.op == "add" && !o.has(keyMessage) {
		return fmt.Errorf("%w: add needs message", ErrOperation)
	}
	return nil
}

// keysOf returns the keys that an operation may have, other than op.
func keysOf(op string) []string {
	switch op {
	case "add":
		return []string{"at", "message"}
	case "set":
		return []string{"at", "set", "unset", "merge", "merge_patch", "patch"}
	case "meta":
		return []string{"set", "unset", "merge", "merge_patch", "patch"}
	case "swipe":
		return []string{"at", "choose", "add", "delete"}
	case "test":
		return []string{"at", "sha256", "value"}
	}
	return []string{"at"}
}

// checkMeta refuses changes of the keys that only meta set changes, on purpose and by their own
// options.
func checkMeta(c *patch.Changes) error {
	copied := *c
	named := copied.LeaveOut(ownKeys()...)
	for _, key := range ownKeys() {
		if _, ok := rawjson.Lookup(c.Merge, key); ok {
			named = append(named, key)
		}
		for _, e := range c.Edits {
			if len(e.Path) == 0 || e.Path[0] == key {
				named = append(named, key)
			}
		}
	}
	if len(named) > 0 {
		return fmt.Errorf("%w: meta does not change %s", ErrOperation, named[0])
	}
	return nil
}
