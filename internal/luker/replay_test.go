package luker

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/jsvalue"
	"stchat/internal/rawjson"
)

// Replay computes what a floor log says of a chat (FORMATS.md A2.3,
// computeTargetState): the commits of each message's active swipe, in order, applied
// to {}. swipe gives the active swipe of the message at a floor; ok is false where
// there is no such message. The errors are that the log is not JSON, or that a
// commit does not apply, in which case Luker gives the log up from that floor on.
func Replay(raw []byte, swipe func(floor int) (id int, ok bool)) (state []byte, err error) {
	if damage := jsonl.Check(raw); damage != nil {
		return nil, fmt.Errorf("the floor log cannot be read: %w", damage)
	}
	r := replayer{root: jsvalue.NewObject()}
	list, _ := rawjson.Lookup(raw, "commits")
	i := -1
	for element := range rawjson.Elements(list) {
		i++
		c, ok := readCommit(element)
		if !ok {
			continue
		}
		if active, ok := swipe(c.floor); !ok || active != c.swipe {
			continue
		}
		patches, _ := jsvalue.Parse(c.patches)
		for _, op := range patches.(*jsvalue.Array).Items {
			if err := r.patch(op); err != nil {
				return nil, fmt.Errorf("commit %d at message %d: %w", i, c.floor, err)
			}
		}
	}
	return jsvalue.Stringify(r.root), nil
}

var errNoPath = errors.New("there is nothing at its path")

// replayer is a state under replay. Values copied are counted, since a few copies
// of a list into itself would fill any memory.
type replayer struct {
	root   jsvalue.Value
	copied int
}

// patch applies one RFC 6902 operation.
func (r *replayer) patch(operation jsvalue.Value) error {
	o, ok := operation.(*jsvalue.Object)
	if !ok {
		return errors.New("an operation is not an object")
	}
	verb, _ := o.Get("op")
	path, err := pointer(o, "path")
	if err != nil {
		return err
	}
	if err := r.do(o, verb, path); err != nil {
		return fmt.Errorf("%v %q: %w", verb, "/"+strings.Join(path, "/"), err)
	}
	return nil
}

func (r *replayer) do(o *jsvalue.Object, verb jsvalue.Value, path []string) (err error) {
	value, has := o.Get("value")
	how := "add"
	switch verb {
	case "remove":
		how = "remove"
	case "add", "replace", "test":
		if !has {
			return errors.New("it has no value")
		}
		how = verb.(string)
	case "move", "copy":
		from, err := pointer(o, "from")
		if err != nil {
			return err
		}
		if value, has = lookup(r.root, from); !has {
			return errNoPath
		}
		if verb == "copy" {
			break
		}
		if len(path) > len(from) && slices.Equal(path[:len(from)], from) {
			return errors.New("it moves a value into itself")
		}
		if r.root, err = put(r.root, from, nil, "remove"); err != nil {
			return err
		}
	default:
		return errors.New("unknown operation")
	}
	if how == "test" {
		if at, ok := lookup(r.root, path); !ok || !equal(at, value) {
			return errors.New("the test fails")
		}
		return nil
	}
	if verb == "copy" {
		const most = 1_000_000
		if value = r.clone(value); r.copied > most {
			return errors.New("it copies more than any chat needs")
		}
	}
	r.root, err = put(r.root, path, value, how)
	return err
}

// pointer reads an RFC 6901 pointer as its segments.
func pointer(o *jsvalue.Object, key string) ([]string, error) {
	v, _ := o.Get(key)
	s, ok := v.(string)
	if !ok || s != "" && s[0] != '/' {
		return nil, fmt.Errorf("an operation has no %s that is a pointer", key)
	}
	if s == "" {
		return nil, nil
	}
	segments := strings.Split(s[1:], "/")
	for i, segment := range segments {
		segments[i] = strings.ReplaceAll(strings.ReplaceAll(segment, "~1", "/"), "~0", "~")
	}
	return segments, nil
}

func lookup(v jsvalue.Value, path []string) (jsvalue.Value, bool) {
	for _, segment := range path {
		next, ok := child(v, segment)
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}

// put adds, replaces or removes the value at path and gives the root, which is
// another one where the path is empty.
func put(root jsvalue.Value, path []string, value jsvalue.Value, how string) (jsvalue.Value, error) {
	if len(path) == 0 {
		return value, nil
	}
	parent, ok := lookup(root, path[:len(path)-1])
	last := path[len(path)-1]
	if !ok {
		return nil, errNoPath
	}
	_, exists := child(parent, last)
	if how != "add" && !exists {
		return nil, errNoPath
	}
	switch parent := parent.(type) {
	case *jsvalue.Object:
		if how == "remove" {
			parent.Delete(last)
		} else {
			parent.Set(last, value)
		}
		return root, nil
	case *jsvalue.Array:
		n := len(parent.Items)
		i, ok := jsvalue.Index(last)
		if last == "-" {
			i, ok = uint32(n), true
		}
		if !ok || int64(i) > int64(n) {
			return nil, errors.New("its index is outside the list")
		}
		at := int(i)
		switch how {
		case "replace":
			parent.Items[at] = value
		case "remove":
			parent.Items = append(parent.Items[:at], parent.Items[at+1:]...)
		default:
			parent.Items = append(parent.Items, nil)
			copy(parent.Items[at+1:], parent.Items[at:])
			parent.Items[at] = value
		}
		return root, nil
	}
	return nil, errNoPath
}

// clone copies a value, so that a later operation on one place leaves the other be.
func (r *replayer) clone(v jsvalue.Value) jsvalue.Value {
	r.copied++
	switch v := v.(type) {
	case *jsvalue.Object:
		c := jsvalue.NewObject()
		for _, key := range v.Keys() {
			item, _ := v.Get(key)
			c.Set(key, r.clone(item))
		}
		return c
	case *jsvalue.Array:
		c := &jsvalue.Array{Items: make([]jsvalue.Value, len(v.Items))}
		for i := range v.Items {
			c.Items[i] = r.clone(v.Items[i])
		}
		return c
	}
	return v
}

// equal compares as RFC 6902's test does: the order of keys does not count.
func equal(a, b jsvalue.Value) bool {
	switch a := a.(type) {
	case *jsvalue.Object:
		b, ok := b.(*jsvalue.Object)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for _, key := range a.Keys() {
			mine, _ := a.Get(key)
			other, ok := b.Get(key)
			if !ok || !equal(mine, other) {
				return false
			}
		}
		return true
	case *jsvalue.Array:
		b, ok := b.(*jsvalue.Array)
		if !ok || len(a.Items) != len(b.Items) {
			return false
		}
		for i := range a.Items {
			if !equal(a.Items[i], b.Items[i]) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case *jsvalue.Object, *jsvalue.Array:
		return false
	}
	return a == b
}
