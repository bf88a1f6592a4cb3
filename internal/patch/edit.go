package patch

import (
	"errors"
	"fmt"
	"slices"

	"stchat/internal/rawjson"
)

// ErrMissing means that a path does not lead to anything.
var ErrMissing = errors.New("there is no such value")

// ErrNoPlace means that a path leads through something that cannot hold the key: a
// string, a number, or a list if the key is not an index.
var ErrNoPlace = errors.New("it cannot hold that key")

// Get returns the raw value at the path; ok is false if there is none.
func Get(raw []byte, path Path) (value []byte, ok bool) {
	for _, key := range path {
		switch rawjson.KindOf(raw) {
		case rawjson.ObjectKind:
			if raw, ok = rawjson.Lookup(raw, key); !ok {
				return nil, false
			}
		case rawjson.Array:
			if raw, ok = element(raw, key); !ok {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return raw, true
}

func element(list []byte, key string) ([]byte, bool) {
	at, ok := Index(key)
	if !ok {
		return nil, false
	}
	for raw := range rawjson.Elements(list) {
		if at == 0 {
			return raw, true
		}
		at--
	}
	return nil, false
}

// Set returns raw with value at the path. Missing objects on the way are created, lists
// are not; the key "-" appends to a list. The error names the place at which the path
// fails and wraps [ErrNoPlace], or [ErrMissing] for an index that a list does not have.
func Set(raw, value []byte, path Path) ([]byte, error) {
	value = rawjson.Compact(value)
	if len(path) == 0 {
		return value, nil
	}
	return edit(raw, path, nil, true, func(container []byte, at Path) ([]byte, error) {
		key := at[len(at)-1]
		switch rawjson.KindOf(container) {
		case rawjson.ObjectKind:
			return setMember(container, key, value), nil
		case rawjson.Array:
			if key == "-" {
				return rawjson.Append(container, value), nil
			}
			return setElement(container, value, at)
		}
		return nil, noPlace(container, at)
	})
}

// Unset returns raw without the value at the path, or raw itself if there is none or the
// path is empty.
func Unset(raw []byte, path Path) []byte {
	if _, ok := Get(raw, path); !ok || len(path) == 0 {
		return raw
	}
	out, err := remove(raw, path)
	if err != nil {
		return raw
	}
	return out
}

// edit walks to the last container on the path, calls do to change it, and puts the result
// back into the values around it. do's at is the whole path, whose last key is the one in
// the container; walked is the part of it before raw. If an object is missing on the way,
// edit creates it or, without create, returns [ErrMissing].
func edit(raw []byte, path, walked Path, create bool, do func(container []byte, at Path) ([]byte, error)) ([]byte, error) {
	at := append(slices.Clip(walked), path[0])
	if len(path) == 1 {
		return do(raw, at)
	}
	inner, ok := Get(raw, path[:1])
	kind := rawjson.KindOf(raw)
	switch {
	case ok:
	case kind == rawjson.ObjectKind && create:
		inner = []byte("{}")
	case kind == rawjson.ObjectKind, kind == rawjson.Array:
		return nil, fmt.Errorf("%s: %w", at, ErrMissing)
	default:
		return nil, noPlace(raw, at)
	}
	inner, err := edit(inner, path[1:], at, create, do)
	if err != nil {
		return nil, err
	}
	if kind == rawjson.Array {
		return setElement(raw, inner, at)
	}
	return setMember(raw, path[0], inner), nil
}

func setMember(object []byte, key string, value []byte) []byte {
	o, err := rawjson.ParseObject(object)
	if err != nil {
		return object // callers have checked the kind
	}
	o.Set(key, value)
	return o.Bytes()
}

func setElement(list, value []byte, at Path) ([]byte, error) {
	n, ok := Index(at[len(at)-1])
	if !ok {
		return nil, noPlace(list, at)
	}
	found := false
	out := rawjson.EditList(list, func(i int, old []byte) ([]byte, bool) {
		if i != n {
			return old, true
		}
		found = true
		return value, true
	})
	if !found {
		return nil, fmt.Errorf("%s: %w", at, ErrMissing)
	}
	return out, nil
}

// remove returns raw without the value at a path. The error wraps [ErrMissing] or
// [ErrNoPlace].
func remove(raw []byte, path Path) ([]byte, error) {
	return edit(raw, path, nil, false, func(container []byte, at Path) ([]byte, error) {
		key := at[len(at)-1]
		if _, ok := Get(container, Path{key}); !ok {
			return nil, absent(raw, path)
		}
		if rawjson.KindOf(container) == rawjson.Array {
			n, _ := Index(key)
			return rawjson.Filter(container, func(i int, _ []byte) bool { return i != n }), nil
		}
		o, err := rawjson.ParseObject(container)
		if err != nil {
			return nil, noPlace(container, at)
		}
		o.Unset(key)
		return o.Bytes(), nil
	})
}

// absent returns the error for a path that leads to nothing: [ErrNoPlace] if a key for a
// list is not an index, else [ErrMissing].
func absent(raw []byte, path Path) error {
	for i, key := range path {
		if _, isIndex := Index(key); rawjson.KindOf(raw) == rawjson.Array && !isIndex && key != "-" {
			return noPlace(raw, path[:i+1])
		}
		inner, ok := Get(raw, Path{key})
		if !ok {
			break
		}
		raw = inner
	}
	return fmt.Errorf("%s: %w", path, ErrMissing)
}

// noPlace returns the error for a container that cannot hold the last key of at.
func noPlace(container []byte, at Path) error {
	held := at[:len(at)-1].String()
	if held == "" {
		held = "the value"
	}
	return fmt.Errorf("%s is %s: %w: %q", held, rawjson.KindOf(container), ErrNoPlace, at[len(at)-1])
}
