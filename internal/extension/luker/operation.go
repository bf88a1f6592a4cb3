package luker

import (
	"errors"
	"fmt"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/jsvalue"
)

var (
	errTest      = errors.New("the test does not hold")
	errNoPlace   = errors.New("there is no such place")
	errNoIndex   = errors.New("that is not an index of the list")
	errNoPointer = errors.New("its path is not a JSON pointer")
)

// whole applies an operation to the whole document, and returns the new one.
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

// walk follows segments to the last container, which may turn out to be something else.
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
