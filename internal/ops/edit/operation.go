package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"stchat/internal/json/metadiff"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/choose"
)

// ErrOperation means that a line is not an operation of edit --ops.
var ErrOperation = error(&ops.Kind{Code: "usage", Text: "not an operation"})

// operation is one operation of edit --ops.
type operation struct {
	op      string
	ranges  []choose.Range // the messages that at names
	message []byte         // of add
	changes patch.Changes  // of set and meta
	swipe   SwipeChange
	sha256  string // of test
	value   []byte // of test; nil: none
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

// parseOperation parses one operation from valid JSON. It refuses one that lacks something, that
// has a key which it does not know, or a value of another kind than the key takes: a slip that
// would otherwise go unnoticed.
func parseOperation(line []byte) (*operation, error) {
	o, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrOperation, rawjson.KindOf(line))
	}
	known := []string{"add", "set", "delete", "hide", "unhide", "swipe", "meta", "test"}
	op := &operation{message: o.Value("message"), value: o.Value("value")}
	if op.op, _ = rawjson.Unquote(o.Value("op")); !slices.Contains(known, op.op) {
		return nil, fmt.Errorf("%w: op must be one of %s", ErrOperation, strings.Join(known, ", "))
	}
	if !o.Has("at") && op.op != "meta" && op.op != "add" {
		return nil, fmt.Errorf("%w: %s needs at", ErrOperation, op.op)
	}
	for _, name := range o.Keys() {
		if name != "op" && !slices.Contains(keysOf(op.op), name) {
			return nil, fmt.Errorf("%w: %s has no %q", ErrOperation, op.op, name)
		}
	}

	for _, k := range []struct {
		key  string
		kind rawjson.Kind
		what string
	}{
		{"message", rawjson.ObjectKind, "an object"},
		{"set", rawjson.ObjectKind, "an object"},
		{"unset", rawjson.Array, "a list of keys"},
		{"merge", rawjson.ObjectKind, "an object"},
		{"delete", rawjson.Number, "a swipe's number"},
		{"sha256", rawjson.String, "a string"},
	} {
		if kind := rawjson.KindOf(o.Value(k.key)); o.Has(k.key) && kind != k.kind {
			return nil, fmt.Errorf("%w: %s is %s, not %s", ErrOperation, k.key, kind, k.what)
		}
	}

	op.sha256, _ = rawjson.Unquote(o.Value("sha256"))
	switch {
	case op.op == "add" && !o.Has("message"):
		err = fmt.Errorf("%w: add needs message", ErrOperation)
	case op.op == "test" && !o.Has("sha256") && !o.Has("value"):
		err = fmt.Errorf("%w: test needs sha256 or value", ErrOperation)
	case op.op == "swipe":
		err = op.readSwipe(o)
	case op.op == "set", op.op == "meta":
		err = op.readChanges(o)
	}
	if err == nil && o.Has("at") {
		op.ranges, err = rangesOf(o.Value("at"))
	}
	return op, err
}

// checkMeta refuses changes of the keys that only meta set changes, on purpose and by their own
// options.
func (o *operation) checkMeta() error {
	touched := o.changes.Touches(keysWithOwnOptions()...)
	if len(touched) > 0 {
		return fmt.Errorf("%w: meta does not change %s", ErrOperation, touched[0])
	}
	return nil
}

// rangesOf returns the messages that at names: a number, a text with ranges, or a list of both.
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
		list = []choose.Range{}
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

// readChanges reads the changes that a set or meta operation asks for.
func (o *operation) readChanges(from *rawjson.Object) (err error) {
	c := &o.changes
	c.Merge, c.MergePatch = from.Value("merge"), from.Value("merge_patch")
	if raw := from.Value("patch"); raw != nil {
		if c.Patch, err = patch.ParseOperations(raw); err != nil {
			return err
		}
	}

	add := func(name string, value []byte) error {
		path, err := patch.ParseKey(name)
		c.Edits = append(c.Edits, patch.Edit{Path: path, Value: value})
		return err
	}

	for key, value := range rawjson.Members(from.Value("set")) {
		name, _ := rawjson.Unquote(key)
		if err := add(name, value); err != nil {
			return err
		}
	}

	for element := range rawjson.Elements(from.Value("unset")) {
		name, ok := rawjson.Unquote(element)
		if !ok {
			return fmt.Errorf("%w: unset is a list of keys", ErrOperation)
		}
		if err := add(name, nil); err != nil {
			return err
		}
	}

	switch {
	case c.Empty():
		return fmt.Errorf("%w: %s changes nothing", ErrOperation, o.op)
	case o.op == "meta":
		return o.checkMeta()
	}
	return nil
}

// edit makes the operation in a message.
func (o *operation) edit(open *open, line []byte) ([]byte, error) {
	switch o.op {
	case "hide", "unhide":
		return (&HideOptions{Hide: o.op == "hide"}).line(line)
	case "set":
		return setValues(&o.changes, line)
	case "swipe":
		edited, _, err := o.swipe.edit(line, open.greeting, &open.opt)
		return edited, err
	}

	sum := sha256.Sum256(line)
	if o.value != nil && !metadiff.Equal(line, o.value) || o.value == nil && !strings.EqualFold(hex.EncodeToString(sum[:]), o.sha256) {
		return nil, patch.ErrTest
	}
	return line, nil
}

// readSwipe reads the change that the operation makes to a message's swipes.
func (o *operation) readSwipe(from *rawjson.Object) error {
	s := &o.swipe
	s.Choose, _ = rawjson.Int(from.Value("choose"))
	s.Delete, _ = rawjson.Int(from.Value("delete"))
	if raw, ok := from.Get("add"); ok {
		text, ok := rawjson.Unquote(raw)
		if !ok {
			return fmt.Errorf("%w: add is the text of a swipe", ErrOperation)
		}
		chosen := from.Value("choose")
		if kind := rawjson.KindOf(chosen); chosen != nil && kind != rawjson.Bool {
			return fmt.Errorf("%w: with add, choose is true or false, not %s", ErrOperation, kind)
		}
		s.Add = &text
		s.Chosen = rawjson.Truthy(chosen)
		s.Choose = 0
	}

	switch {
	case !from.Has("choose") && !from.Has("delete") && s.Add == nil:
		return fmt.Errorf("%w: swipe needs choose, add or delete", ErrOperation)
	case from.Has("choose") && s.Choose < 1 && s.Add == nil, from.Has("delete") && s.Delete < 1:
		return fmt.Errorf("%w: choose and delete take a swipe's number, from 1", ErrOperation)
	case s.Delete > 0 && (s.Choose > 0 || s.Add != nil):
		return fmt.Errorf("%w: swipe deletes one, or chooses or adds one", ErrOperation)
	}
	return nil
}
