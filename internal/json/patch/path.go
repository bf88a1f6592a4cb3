package patch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrPointer means that a text is not an RFC 6901 pointer.
var ErrPointer = errors.New("not a JSON pointer")

// Path is the way from a JSON value to a value inside it: keys of objects and indexes of
// lists. The empty path is the value itself.
type Path []string

// ParseKey reads the KEY of a flag: if it begins with a slash it is a pointer, else one
// literal key. The error is that of [ParsePointer].
func ParseKey(key string) (Path, error) {
	if strings.HasPrefix(key, "/") {
		return ParsePointer(key)
	}
	return Path{key}, nil
}

// ParsePointer reads an RFC 6901 pointer; "" is the whole value. The error wraps
// [ErrPointer].
func ParsePointer(pointer string) (Path, error) {
	if pointer == "" {
		return nil, nil
	}
	if pointer[0] != '/' {
		return nil, fmt.Errorf("%q: %w: it must begin with a slash", pointer, ErrPointer)
	}
	path := strings.Split(pointer[1:], "/")
	for i, key := range path {
		if !strings.Contains(key, "~") {
			continue
		}
		rest := strings.NewReplacer("~0", "", "~1", "").Replace(key)
		if strings.Contains(rest, "~") {
			return nil, fmt.Errorf("%q: %w: ~ must be followed by 0 or 1", pointer, ErrPointer)
		}
		path[i] = strings.NewReplacer("~0", "~", "~1", "/").Replace(key)
	}
	return path, nil
}

// String returns the path as a pointer.
func (p Path) String() string {
	var b strings.Builder
	for _, key := range p {
		b.WriteByte('/')
		if strings.ContainsAny(key, "~/") {
			key = strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		}
		b.WriteString(key)
	}
	return b.String()
}

// within reports whether the path leads to something inside the value at other.
func (p Path) within(other Path) bool {
	return len(p) > len(other) && slices.Equal(p[:len(other)], other)
}

// Index reads an index of a list as RFC 6901 spells it, digits without a leading zero, and
// reports whether key is one.
func Index(key string) (int, bool) {
	if key == "" || len(key) > 1 && key[0] == '0' || strings.Trim(key, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(key)
	return n, err == nil
}
