package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"stchat/internal/choose"
	"stchat/internal/message"
	"stchat/internal/metadiff"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

// ErrOperation means that a line is not an operation of message apply.
var ErrOperation = errors.New("not an operation")

// operation is one operation of message apply (CONTENT.md 2.6).
type operation struct {
	op  string
	at  []choose.Range
	raw *rawjson.Object
}

// parseOperation parses one operation from valid JSON.
func parseOperation(line []byte) (o operation, err error) {
	if o.raw, err = rawjson.ParseObject(line); err != nil {
		return o, fmt.Errorf("%w: %s", ErrOperation, rawjson.KindOf(line))
	}
	name, _ := o.raw.Get("op")
	o.op, _ = rawjson.Unquote(name)
	known := []string{"add", "set", "delete", "hide", "unhide", "swipe", "meta", "test"}
	if !slices.Contains(known, o.op) {
		return o, fmt.Errorf("%w: op must be one of %v", ErrOperation, known)
	}
	at, ok := o.raw.Get("at")
	if !ok {
		if o.op == "meta" || o.op == "add" {
			return o, nil
		}
		return o, fmt.Errorf("%w: %s needs at", ErrOperation, o.op)
	}
	o.at, err = rangesOf(at)
	return o, err
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
	c.Merge, _ = o.raw.Get("merge")
	c.MergePatch, _ = o.raw.Get("merge_patch")
	if raw, ok := o.raw.Get("patch"); ok {
		if c.Patch, err = patch.ParseOperations(raw); err != nil {
			return c, err
		}
	}
	set, _ := o.raw.Get("set")
	for key, value := range rawjson.Members(set) {
		name, _ := rawjson.Unquote(key)
		path, err := patch.ParseKey(name)
		if err != nil {
			return c, err
		}
		c.Edits = append(c.Edits, patch.Edit{Path: path, Value: value})
	}
	unset, _ := o.raw.Get("unset")
	for element := range rawjson.Elements(unset) {
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
		hide := o.op == "hide"
		return func(line []byte) ([]byte, error) { return message.SetSystem(line, hide), nil }, nil
	case "set":
		c, err := o.changes()
		return func(line []byte) ([]byte, error) {
			edited, err := c.Apply(line)
			if err != nil {
				return nil, err
			}
			return judged(line, edited)
		}, err
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
	if raw, ok := o.raw.Get("value"); ok {
		return func(line []byte) ([]byte, error) {
			if !metadiff.Equal(line, raw) {
				return nil, patch.ErrTest
			}
			return line, nil
		}, nil
	}
	raw, _ := o.raw.Get("sha256")
	want, ok := rawjson.Unquote(raw)
	if !ok {
		return nil, fmt.Errorf("%w: test needs sha256 or value", ErrOperation)
	}
	return func(line []byte) ([]byte, error) {
		if sum := sha256.Sum256(line); hex.EncodeToString(sum[:]) != want {
			return nil, patch.ErrTest
		}
		return line, nil
	}, nil
}

// number returns the value of a key, 0 if it is not a whole number.
func (o *operation) number(key string) int {
	raw, _ := o.raw.Get(key)
	n, _ := rawjson.Int(raw)
	return n
}

// isNamed reports whether the message to add names its speaker.
func (o *operation) isNamed() bool {
	object, _ := o.raw.Get("message")
	_, ok := rawjson.Lookup(object, "name")
	return ok
}

// message returns the message to add; without a name, it gets the one from the cast.
func (o *operation) message(c cast, now time.Time) ([]byte, error) {
	object, _ := o.raw.Get("message")
	line, _, err := c.completed(object, now)
	if err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	return line, nil
}

// swipe returns the change that the operation makes to a message's swipes.
func (o *operation) swipe(common *Options) (*SwipeOptions, error) {
	opt := &SwipeOptions{Options: *common, Choose: o.number("choose"), Delete: o.number("delete")}
	if raw, ok := o.raw.Get("add"); ok {
		text, ok := rawjson.Unquote(raw)
		if !ok {
			return nil, fmt.Errorf("%w: add is the text of a swipe", ErrOperation)
		}
		chosen, _ := o.raw.Get("choose")
		opt.Add, opt.Chosen, opt.Choose = &text, rawjson.Truthy(chosen), 0
	}
	switch {
	case opt.Choose < 1 && opt.Delete < 1 && opt.Add == nil:
		return nil, fmt.Errorf("%w: swipe needs choose, add or delete", ErrOperation)
	case opt.Delete > 0 && (opt.Choose > 0 || opt.Add != nil):
		return nil, fmt.Errorf("%w: swipe deletes one, or chooses or adds one", ErrOperation)
	}
	return opt, nil
}
