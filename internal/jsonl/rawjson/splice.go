package rawjson

import (
	"bytes"
	"fmt"
	"slices"
)

// Splice is one change of a value's or a file's bytes: Data replaces Len bytes from
// offset At on.
type Splice struct {
	At, Len int64
	Data    []byte
}

// Apply returns a copy of raw with the change made; raw itself if there is none, and s is nil.
func (s *Splice) Apply(raw []byte) []byte {
	if s == nil {
		return raw
	}
	return slices.Concat(raw[:s.At], s.Data, raw[s.At+s.Len:])
}

// Splices returns a copy of raw with the changes made, which must be in the order of
// their places and not overlap; raw itself if there are none.
func Splices(raw []byte, list []Splice) []byte {
	if len(list) == 0 {
		return raw
	}
	size := int64(len(raw))
	for _, s := range list {
		size += int64(len(s.Data)) - s.Len
	}
	out := make([]byte, 0, size)
	kept := int64(0)
	for _, s := range list {
		out = append(out, raw[kept:s.At]...)
		out = append(out, s.Data...)
		kept = s.At + s.Len
	}
	return append(out, raw[kept:]...)
}

// SetSplice is [SetPath], but returns only the change, for a few bytes among hundreds of
// megabytes. The path must have at least one key.
func SetSplice(raw, value []byte, path ...string) (Splice, error) {
	at, end := 0, len(raw)
	for i, key := range path {
		key = literal(key)
		in := raw[at:end]
		place := span{-1, -1} // of the value
		first := -1           // where the first key begins
		last := 0             // where the last value ends
		braces, ok := walk(in, '{', func(k, v span) bool {
			if first < 0 {
				first = k.at
			}
			last = v.end
			if KeyIs(in[k.at:k.end], key) {
				place = v
			}
			return true
		})

		if !ok && i == 0 {
			return Splice{}, ErrNotObject
		}
		if !ok {
			return Splice{}, fmt.Errorf("%q: %w", path[i-1], ErrNotObject)
		}
		if place.at >= 0 {
			end = at + place.end
			at += place.at
			continue
		}

		fresh := nest(value, path[i+1:])
		hasLines := first >= 0 && bytes.IndexByte(in[braces.at:first], '\n') >= 0 // a member a line
		if hasLines {
			whole := Edit(in, func(o *Object) { o.Set(key, fresh) })
			return Splice{int64(at), int64(end - at), whole}, nil
		}
		data := append(Quote(key), ':')
		data = append(data, fresh...)
		if first < 0 {
			return Splice{At: int64(at + braces.at + 1), Data: data}, nil
		}
		return Splice{At: int64(at + last), Data: append([]byte{','}, data...)}, nil
	}
	return Splice{int64(at), int64(end - at), value}, nil
}

// nest wraps value in an object for each key of the path.
func nest(value []byte, path []string) []byte {
	for _, key := range slices.Backward(path) {
		value = slices.Concat([]byte{'{'}, Quote(key), []byte{':'}, value, []byte{'}'})
	}
	return value
}
