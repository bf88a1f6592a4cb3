package luker

import (
	"errors"
	"fmt"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/jsvalue"
)

// operation applies one operation, and returns the document, which is another one where
// the operation is on the whole.
func (r *Replay) operation(document jsvalue.Value, o *jsvalue.Object) (jsvalue.Value, error) {
	name, _ := o.Get("op")
	given, _ := o.Get("path")
	segments, err := pointer(given)
	if err != nil {
		return nil, err
	}
	value, has := o.Get("value")
	verb := strings.ToLower(jsvalue.Trim(jsvalue.String(name)))
	switch verb {
	case "add", "replace":
		if !has {
			return nil, fmt.Errorf("%s needs a value", verb)
		}
	case "remove", "test":
	default:
		return nil, fmt.Errorf("unsupported operation %.20q", verb)
	}
	if len(segments) == 0 {
		return whole(document, verb, value, has)
	}
	container, err := walk(document, segments[:len(segments)-1])
	if err == nil {
		err = r.edit(container, verb, segments[len(segments)-1], value, has)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %.100q: %w", verb, given, err)
	}
	return document, nil
}

var (
	errTest      = errors.New("the test does not hold")
	errNoPlace   = errors.New("there is no such place")
	errNoIndex   = errors.New("that is no index of the list")
	errNoPointer = errors.New("its path is no JSON pointer")
)

// whole does an operation on the whole document.
func whole(document jsvalue.Value, verb string, value jsvalue.Value, has bool) (jsvalue.Value, error) {
	switch verb {
	case "remove":
		return jsvalue.NewObject(), nil
	case "test":
		if !has || !same(document, value) {
			return nil, errTest
		}
		return document, nil
	}
	return value, nil
}

// pointer is parsePath.
func pointer(v jsvalue.Value) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	text, ok := v.(string)
	switch {
	case !ok || text != "" && text[0] != '/':
		return nil, errNoPointer
	case text == "":
		return nil, nil
	case strings.Count(text, "/") > jsonl.MaxDepth:
		return nil, errSteps
	}
	segments := strings.Split(text[1:], "/")
	for i, segment := range segments {
		segments[i] = strings.ReplaceAll(strings.ReplaceAll(segment, "~1", "/"), "~0", "~")
		if Unsafe(segments[i]) {
			return nil, fmt.Errorf("the path has the segment %s, which Luker refuses", segments[i])
		}
	}
	return segments, nil
}

// missing is what JavaScript calls undefined.
type missing struct{}

// walk follows segments to the last container, which may turn out to be none.
func walk(v jsvalue.Value, segments []string) (jsvalue.Value, error) {
	for _, segment := range segments {
		switch at := v.(type) {
		case *jsvalue.Array:
			i, err := indexIn(segment, len(at.Items)-1)
			if err != nil {
				return nil, err
			}
			v = at.Items[i]
		case *jsvalue.Object:
			next, ok := at.Get(segment)
			if v = next; !ok {
				v = missing{}
			}
		default:
			return nil, errNoPlace
		}
	}
	return v, nil
}

// indexIn is normalizeArrayIndex: leading zeros are allowed.
func indexIn(segment string, last int) (int, error) {
	if !isDigits(segment) {
		return 0, errNoIndex
	}
	i, ok := jsvalue.Index(strings.TrimLeft(segment[:len(segment)-1], "0") + segment[len(segment)-1:])
	if !ok || int64(i) > int64(last) {
		return 0, errNoIndex
	}
	return int(i), nil
}

// edit does an operation on a member or an element.
func (r *Replay) edit(container jsvalue.Value, verb, key string, value jsvalue.Value, has bool) error {
	switch at := container.(type) {
	case *jsvalue.Object:
		return editMember(at, verb, key, value, has)
	case *jsvalue.Array:
		return r.editElement(at, verb, key, value, has)
	}
	if verb == "test" && !has { // undefined, as is what the test has
		return nil
	}
	return errNoPlace
}

func editMember(o *jsvalue.Object, verb, key string, value jsvalue.Value, has bool) error {
	old, exists := o.Get(key)
	switch verb {
	case "remove":
		o.Delete(key)
	case "test":
		if exists != has || exists && !same(old, value) {
			return errTest
		}
	case "replace":
		if !exists {
			return errNoPlace
		}
		o.Set(key, value)
	default:
		o.Set(key, value)
	}
	return nil
}

func (r *Replay) editElement(list *jsvalue.Array, verb, key string, value jsvalue.Value, has bool) error {
	n := len(list.Items)
	if verb == "add" {
		at, err := n, error(nil)
		if key != "-" {
			at, err = indexIn(key, n)
		}
		if err == nil {
			err = r.move(n - at)
		}
		if err != nil {
			return err
		}
		list.Items = append(list.Items, nil)
		copy(list.Items[at+1:], list.Items[at:])
		list.Items[at] = value
		return nil
	}
	at, err := indexIn(key, n-1)
	if err != nil {
		return err
	}
	switch verb {
	case "remove":
		if err := r.move(n - at); err != nil {
			return err
		}
		list.Items = append(list.Items[:at], list.Items[at+1:]...)
	case "test":
		if !has || !same(list.Items[at], value) {
			return errTest
		}
	default:
		list.Items[at] = value
	}
	return nil
}

// same is isSameJsonValue: the order of keys does not count.
func same(a, b jsvalue.Value) bool {
	switch a := a.(type) {
	case *jsvalue.Object:
		b, ok := b.(*jsvalue.Object)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for _, key := range a.Keys() {
			mine, _ := a.Get(key)
			other, ok := b.Get(key)
			if !ok || !same(mine, other) {
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
			if !same(a.Items[i], b.Items[i]) {
				return false
			}
		}
		return true
	}
	return !isContainer(b) && a == b
}
