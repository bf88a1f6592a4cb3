package patch

import (
	"errors"
	"fmt"

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

// Unset returns raw without the value at the path, or raw itself if there is none or the
// path is empty.
func Unset(raw []byte, path Path) []byte {
	d := NewDocument(raw)
	d.unset(path)
	return d.Bytes()
}

// absent returns the error for a path that leads to nothing: [ErrNoPlace] if a key for a
// list is not an index, else [ErrMissing].
func absent(d *Document, path Path) error {
	for i, key := range path {
		if _, isIndex := Index(key); d.parse() && d.list != nil && !isIndex && key != "-" {
			return d.noPlace(path[:i+1])
		}
		inner, ok := d.child(key)
		if !ok {
			break
		}
		d = inner
	}
	return fmt.Errorf("%s: %w", path, ErrMissing)
}
