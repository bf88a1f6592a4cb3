package luker

import (
	"errors"

	"stchat/internal/jsvalue"
)

// Limits of what a replay does. No chat that people wrote comes near them.
const (
	mostWork  = 1 << 28 // bytes of variables' text copied or parsed, and their list elements moved
	mostMoved = 1 << 28 // list elements of floor logs' state moved
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

// move accounts for n list elements that get another index.
func (e *effort) move(n int) error {
	if e.moved += int64(n); e.moved > mostMoved {
		return errWork
	}
	return nil
}

// hole accounts for n elements created by a write behind a list's end.
func (e *effort) hole(n int64) error {
	if int64(e.holes)+n > mostHoles {
		return errIndex
	}
	e.holes += int(n)
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
