package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"stchat/internal/choose"
	"stchat/internal/metadiff"
	"stchat/internal/ops"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

// ErrOperation means that a line is not an operation of message apply.
var ErrOperation = error(&ops.Kind{Code: "usage", Text: "not an operation"})

// operation is one operation of message apply (CONTENT.md 2.6).
type operation struct {
	op     string
	line   []byte
	values [keysKnown]rawjson.Span // of the keys below, in line
}

// The keys of operations. They are numbers, as there may be millions of operations.
const (
	keyAt = iota
	keyMessage
	keySet
	keyUnset
	keyMerge
	keyMergePatch
	keyPatch
	keyChoose
	keyAdd
	keyDelete
	keySHA256
	keyValue
	keysKnown
)

func operationKeys() []string {
	return []string{"at", "message", "set", "unset", "merge", "merge_patch", "patch", "choose", "add", "delete", "sha256", "value"}
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

// parseOperation parses one operation from valid JSON.
func parseOperation(line []byte) (o operation, err error) {
	if kind := rawjson.KindOf(line); kind != rawjson.ObjectKind {
		return o, fmt.Errorf("%w: %s", ErrOperation, kind)
	}
	o.line = line
	rawjson.Places(line, o.values[:], operationKeys()...)
	known := []string{"add", "set", "delete", "hide", "unhide", "swipe", "meta", "test"}
	if o.op, _ = rawjson.Unquote(rawjson.Value(line, "op")); !slices.Contains(known, o.op) {
		return o, fmt.Errorf("%w: op must be one of %v", ErrOperation, known)
	}
	return o, nil
}

// check refuses an operation that lacks something, that has a key which it does not know, or a
// value of another kind than the key takes: a slip that would otherwise go unnoticed.
func (o *operation) check() error {
	if !o.has(keyAt) && o.op != "meta" && o.op != "add" {
		return fmt.Errorf("%w: %s needs at", ErrOperation, o.op)
	}
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
	switch {
	case o.op == "add" && !o.has(keyMessage):
		return fmt.Errorf("%w: add needs message", ErrOperation)
	case o.op == "test" && !o.has(keySHA256) && !o.has(keyValue):
		return fmt.Errorf("%w: test needs sha256 or value", ErrOperation)
	case o.op == "swipe":
		_, err := o.swipe()
		return err
	case o.op == "set", o.op == "meta":
		c, err := o.changes()
		if err == nil && o.op == "meta" {
			err = checkMeta(&c)
		}
		return err
	}
	return nil
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

// has reports whether the operation has a key.
func (o *operation) has(key int) bool { return o.values[key].End > 0 }

// get returns the raw value of a key, nil if the operation lacks it.
func (o *operation) get(key int) []byte {
	if !o.has(key) {
		return nil
	}
	at := o.values[key]
	return o.line[at.At:at.End:at.End]
}

// number returns the value of a key, 0 if it is not a whole number.
func (o *operation) number(key int) int {
	n, _ := rawjson.Int(o.get(key))
	return n
}

// ranges returns the messages that at names: a number, a text with ranges, or a list of both.
func (o *operation) ranges() ([]choose.Range, error) {
	if !o.has(keyAt) {
		return nil, nil
	}
	return rangesOf(o.get(keyAt))
}

func rangesOf(raw []byte) (list []choose.Range, err error) {
	switch rawjson.KindOf(raw) {
	case rawjson.Number:
		n, ok := rawjson.Int(raw)
		if !ok || n != int(int32(n)) {
			return nil, fmt.Errorf("%w: at is %s, not a message number", ErrOperation, raw)
		}
		return []choose.Range{{From: n, To: n}}, nil
	case rawjson.String:
		text, _ := rawjson.Unquote(raw)
		if list, err = choose.ParseRanges(text); err != nil {
			return nil, fmt.Errorf("%w: at: %w", ErrOperation, err)
		}
		return list, nil
	case rawjson.Array:
		for element := range rawjson.Elements(raw) {
			more, err := rangesOf(element)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
		return list, nil
	}
	return nil, fmt.Errorf("%w: at is %s", ErrOperation, rawjson.KindOf(raw))
}

// changes returns the changes that a set or meta operation asks for.
func (o *operation) changes() (c patch.Changes, err error) {
	c.Merge, c.MergePatch = o.get(keyMerge), o.get(keyMergePatch)
	if raw := o.get(keyPatch); raw != nil {
		if c.Patch, err = patch.ParseOperations(raw); err != nil {
			return c, err
		}
	}
	for key, value := range rawjson.Members(o.get(keySet)) {
		name, _ := rawjson.Unquote(key)
		path, err := patch.ParseKey(name)
		if err != nil {
			return c, err
		}
		c.Edits = append(c.Edits, patch.Edit{Path: path, Value: value})
	}
	for element := range rawjson.Elements(o.get(keyUnset)) {
		name, ok := rawjson.Unquote(element)
		if !ok {
			return c, fmt.Errorf("%w: unset is a list of keys", ErrOperation)
		}
		path, err := patch.ParseKey(name)
		if err != nil {
			return c, err
		}
		c.Edits = append(c.Edits, patch.Edit{Path: path})
	}
	if c.Empty() {
		err = fmt.Errorf("%w: %s changes nothing", ErrOperation, o.op)
	}
	return c, err
}

// edit makes the operation in a message.
func (o *operation) edit(open *open, line []byte) ([]byte, error) {
	switch o.op {
	case "hide", "unhide":
		return (&HideOptions{Hide: o.op == "hide"}).line(line)
	case "set":
		c, err := o.changes()
		if err != nil {
			return nil, err
		}
		return setValues(&c, line)
	case "swipe":
		s, err := o.swipe()
		if err != nil {
			return nil, err
		}
		edited, _, err := s.edit(line, open.greeting, &open.opt)
		return edited, err
	}
	want, _ := rawjson.Unquote(o.get(keySHA256))
	sum := sha256.Sum256(line)
	if o.has(keyValue) && !metadiff.Equal(line, o.get(keyValue)) || !o.has(keyValue) && !strings.EqualFold(hex.EncodeToString(sum[:]), want) {
		return nil, patch.ErrTest
	}
	return line, nil
}

// swipe returns the change that the operation makes to a message's swipes.
func (o *operation) swipe() (s SwipeChange, err error) {
	s.Choose, s.Delete = o.number(keyChoose), o.number(keyDelete)
	if raw := o.get(keyAdd); raw != nil {
		text, ok := rawjson.Unquote(raw)
		if !ok {
			return s, fmt.Errorf("%w: add is the text of a swipe", ErrOperation)
		}
		if kind := rawjson.KindOf(o.get(keyChoose)); o.has(keyChoose) && kind != rawjson.Bool {
			return s, fmt.Errorf("%w: with add, choose is true or false, not %s", ErrOperation, kind)
		}
		s.Add, s.Chosen, s.Choose = &text, rawjson.Truthy(o.get(keyChoose)), 0
	}
	switch {
	case !o.has(keyChoose) && !o.has(keyDelete) && s.Add == nil:
		return s, fmt.Errorf("%w: swipe needs choose, add or delete", ErrOperation)
	case o.has(keyChoose) && s.Choose < 1 && s.Add == nil, o.has(keyDelete) && s.Delete < 1:
		return s, fmt.Errorf("%w: choose and delete take a swipe's number, from 1", ErrOperation)
	case s.Delete > 0 && (s.Choose > 0 || s.Add != nil):
		return s, fmt.Errorf("%w: swipe deletes one, or chooses or adds one", ErrOperation)
	}
	return s, nil
}
