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

// Apply returns a copy of raw with the change made.
func (s Splice) Apply(raw []byte) []byte {
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
		out = append(append(out, raw[kept:s.At]...), s.Data...)
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
		place, first, last := span{-1, -1}, -1, 0
		braces, ok := walkObject(in, func(k, v span) bool {
			if first < 0 {
				first = k.at
			}
			if last = v.end; KeyIs(in[k.at:k.end], key) {
				place = v
			}
			return true
		})
		switch {
		case !ok && i == 0:
			return Splice{}, ErrNotObject
		case !ok:
			return Splice{}, fmt.Errorf("%q: %w", path[i-1], ErrNotObject)
		case place.at >= 0:
			at, end = at+place.at, at+place.end
			continue
		case first >= 0 && bytes.IndexByte(in[braces.at:first], '\n') >= 0:
			// one member per line: SetPath decides where the new one goes
			whole, err := SetPath(in, value, path[i:]...)
			return Splice{int64(at), int64(end - at), whole}, err
		}
		data := append(append(Quote(key), ':'), nest(value, path[i+1:])...)
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

// valueStart returns where the value begins of the member whose key ends at i.
func valueStart(b []byte, i int) int {
	return skipSpace(b, skipSpace(b, i)+1)
}

// splicer writes the members of an edited object.
type splicer struct {
	out   []byte
	lead  []byte // what comes before the first member
	gap   []byte // what comes before a new one
	colon []byte // what comes between its key and its value
	any   bool   // a member has been written
}

// add writes a new member.
func (w *splicer) add(key, val []byte) {
	if w.any {
		w.out = append(w.out, w.gap...)
	} else {
		w.out = append(w.out, w.lead...)
	}
	w.any = true
	w.out = append(w.out, key...)
	w.out = append(w.out, w.colon...)
	w.out = append(w.out, val...)
}

// addRead writes the members that came from src, each with what came before it
// in src; the first one written gets what came before the first member.
func (w *splicer) addRead(c *content) {
	for i, m := range c.members[:c.read] {
		if m.val == gone {
			continue
		}
		switch {
		case !w.any:
			w.out = append(w.out, w.lead...)
		case i == 0:
			w.out = append(w.out, w.gap...)
		default:
			w.out = append(w.out, c.src[c.valueEnd(i-1):m.key]...)
		}
		w.any = true
		if m.val >= 0 {
			w.out = append(w.out, c.src[m.key:c.valueEnd(i)]...)
			continue
		}
		end := valueStart(c.src, m.key+len(c.key(i)))
		w.out = append(w.out, c.src[m.key:end]...)
		w.out = append(w.out, c.value(i)...)
	}
}
