package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"stchat/internal/choose"
	"stchat/internal/metadiff"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

// ErrOperation means that a line is not an operation of message apply.
var ErrOperation = errors.New("not an operation")

// operation is one operation of message apply (CONTENT.md 2.6).
type operation struct {
	op     string
	line   []byte
	places [keysKnown]rawjson.Span // of the values in line
}

// The keys of operations. They are numbers, as there may be millions of operations.
const (
	keyOp = iota
	keyAt
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

// parseOperation parses one operation from valid JSON.
func parseOperation(line []byte) (o operation, err error) {
	if kind := rawjson.KindOf(line); kind != rawjson.ObjectKind {
		return o, fmt.Errorf("%w: %s", ErrOperation, kind)
	}
	o.line = line
	rawjson.Places(line, o.places[:], "op", "at", "message", "set", "unset", "merge", "merge_patch", "patch", "choose", "add", "delete", "sha256", "value")
	known := [...]string{"add", "set", "delete", "hide", "unhide", "swipe", "meta", "test"}
	name := o.get(keyOp)
	for _, op := range known {
		if rawjson.KeyIs(name, op) {
			o.op = op
		}
	}
	switch {
	case o.op == "":
		return o, fmt.Errorf("%w: op must be one of %v", ErrOperation, known)
	case !o.has(keyAt) && o.op != "meta" && o.op != "add":
		return o, fmt.Errorf("%w: %s needs at", ErrOperation, o.op)
	}
	return o, nil
}

// has reports whether the operation has a key.
func (o *operation) has(key int) bool { return o.places[key].End > 0 }

// get returns the raw value of a key, nil if the operation lacks it.
func (o *operation) get(key int) []byte {
	if !o.has(key) {
		return nil
	}
	at := o.places[key]
	return o.line[at.At:at.End:at.End]
}

// at returns the messages that the operation names, none if it does not say.
func (o *operation) at() ([]choose.Range, error) {
	if !o.has(keyAt) {
		return nil, nil
	}
	return rangesOf(o.get(keyAt))
}

// rangesOf parses a number, a text with ranges, or a list of both.
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

// edit returns the edit that the operation makes in a message.
func (o *operation) edit(opt *Options, greeting bool) (Edit, error) {
	switch o.op {
	case "hide", "unhide":
		return (&HideOptions{Hide: o.op == "hide"}).line, nil
	case "set":
		c, err := o.changes()
		return func(line []byte) ([]byte, error) { return made(&c, line) }, err
	case "test":
		return o.test()
	}
	swipe, err := o.swipe(opt)
	return func(line []byte) ([]byte, error) {
		edited, _, err := swipe.edit(line, greeting)
		return edited, err
	}, err
}

// test returns an edit that changes nothing and fails where the message is not as expected.
func (o *operation) test() (Edit, error) {
	if raw := o.get(keyValue); raw != nil {
		return func(line []byte) ([]byte, error) {
			if !metadiff.Equal(line, raw) {
				return nil, patch.ErrTest
			}
			return line, nil
		}, nil
	}
	want, ok := rawjson.Unquote(o.get(keySHA256))
	if !ok {
		return nil, fmt.Errorf("%w: test needs sha256 or value", ErrOperation)
	}
	return func(line []byte) ([]byte, error) {
		if sum := sha256.Sum256(line); !strings.EqualFold(hex.EncodeToString(sum[:]), want) {
			return nil, patch.ErrTest
		}
		return line, nil
	}, nil
}

// number returns the value of a key, 0 if it is not a whole number.
func (o *operation) number(key int) int {
	n, _ := rawjson.Int(o.get(key))
	return n
}

// isNamed reports whether the message to add names its speaker.
func (o *operation) isNamed() bool {
	_, ok := rawjson.Lookup(o.get(keyMessage), "name")
	return ok
}

// message returns the message to add; without a name, it gets the one from the cast.
func (o *operation) message(c cast, now time.Time) ([]byte, error) {
	line, _, err := c.completed(o.get(keyMessage), now)
	if err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	return line, nil
}

// swipe returns the change that the operation makes to a message's swipes.
func (o *operation) swipe(common *Options) (*SwipeOptions, error) {
	opt := &SwipeOptions{Options: *common, Choose: o.number(keyChoose), Delete: o.number(keyDelete)}
	if raw := o.get(keyAdd); raw != nil {
		text, ok := rawjson.Unquote(raw)
		if !ok {
			return nil, fmt.Errorf("%w: add is the text of a swipe", ErrOperation)
		}
		if kind := rawjson.KindOf(o.get(keyChoose)); o.has(keyChoose) && kind != rawjson.Bool {
			return nil, fmt.Errorf("%w: with add, choose is true or false, not %s", ErrOperation, kind)
		}
		opt.Add, opt.Chosen, opt.Choose = &text, rawjson.Truthy(o.get(keyChoose)), 0
	}
	switch {
	case !o.has(keyChoose) && !o.has(keyDelete) && opt.Add == nil:
		return nil, fmt.Errorf("%w: swipe needs choose, add or delete", ErrOperation)
	case o.has(keyChoose) && opt.Choose < 1 && opt.Add == nil, o.has(keyDelete) && opt.Delete < 1:
		return nil, fmt.Errorf("%w: choose and delete take a swipe's number, from 1", ErrOperation)
	case opt.Delete > 0 && (opt.Choose > 0 || opt.Add != nil):
		return nil, fmt.Errorf("%w: swipe deletes one, or chooses or adds one", ErrOperation)
	}
	return opt, nil
}
