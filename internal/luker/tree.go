package luker

import (
	"errors"

	"stchat/internal/jsvalue"
)

// Limits of what a replay does; no chat that people wrote comes near.
const (
	mostWork  = 1 << 28 // bytes of variables' text that are copied or parsed
	mostMoved = 1 << 28 // elements of lists that make room for others
	mostSteps = 1000    // segments of a path
	mostHoles = 100_000 // elements that writes behind lists' ends create, in all
)

var (
	errWork  = errors.New("its operations take too long to replay")
	errSteps = errors.New("an operation's path is too long")
	errIndex = errors.New("its operations write far behind the ends of lists")
)

// effort is what a replay has cost so far. A few operations of a stranger's file could
// else take any time.
type effort struct {
	bytes, holes int
	moved        int64
}

// spend accounts for work on n bytes.
func (e *effort) spend(n int) error {
	if e.bytes += n; e.bytes > mostWork || n < 0 {
		return errWork
	}
	return nil
}

// move accounts for n elements of a list that get another index.
func (e *effort) move(n int) error {
	if e.moved += int64(n); e.moved > mostMoved {
		return errWork
	}
	return nil
}

// hole accounts for n elements that a write behind a list's end creates.
func (e *effort) hole(n int64) error {
	if int64(e.holes)+n > mostHoles {
		return errIndex
	}
	e.holes += int(n)
	return nil
}

// Unsafe reports whether Luker refuses a segment of a path, since in JavaScript it would
// lead to an object's prototype (isUnsafePathSegment of fast-json-patch.js,
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
