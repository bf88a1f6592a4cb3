package luker

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl"
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
			v = next
			if !ok {
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
			if other, ok := b.Get(key); !ok || !same(mine, other) {
				return false
			}
		}
		return true
	case *jsvalue.Array:
		b, ok := b.(*jsvalue.Array)
		return ok && slices.EqualFunc(a.Items, b.Items, same)
	}
	return !isContainer(b) && a == b
}

// Limits of what a replay does. No chat that people wrote comes near them.
const (
	mostWork  = 1 << 28 // bytes of variables' text copied or parsed, and list elements moved
	mostSteps = 1000    // segments of a path
	mostHoles = 100_000 // elements created by writes behind lists' ends, in all
)

var (
	errWork  = errors.New("its operations take too long to replay")
	errSteps = errors.New("an operation's path is too long")
	errIndex = errors.New("its operations write far behind the ends of lists")
)

// effort is what a replay has cost so far. Without limits, a few operations in a
// stranger's file could take any time.
type effort struct {
	work, holes int64
}

// spend accounts for work on n bytes, or n list elements that get another index.
func (e *effort) spend(n int) error {
	if e.work += int64(n); e.work > mostWork {
		return errWork
	}
	return nil
}

// addHoles accounts for n elements created by a write behind a list's end.
func (e *effort) addHoles(n int64) error {
	if e.holes+n > mostHoles {
		return errIndex
	}
	e.holes += n
	return nil
}

// Unsafe reports whether Luker refuses a segment of a path because it would lead to an
// object's prototype in JavaScript (isUnsafePathSegment of fast-json-patch.js,
// parsePathSegments of path-ops.js).
func Unsafe(segment string) bool {
	return segment == "__proto__" || segment == "constructor" || segment == "prototype"
}

// child returns the member or element of a container that a segment names.
func child(v jsvalue.Value, segment string) (jsvalue.Value, bool) {
	switch v := v.(type) {
	case *jsvalue.Object:
		return v.Get(segment)
	case *jsvalue.Array:
		if i, ok := jsvalue.Index(segment); ok && int64(i) < int64(len(v.Items)) {
			return v.Items[i], true
		}
	}
	return nil, false
}

func isContainer(v jsvalue.Value) bool {
	switch v.(type) {
	case *jsvalue.Object, *jsvalue.Array:
		return true
	}
	return false
}
