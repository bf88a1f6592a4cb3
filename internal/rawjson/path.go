package rawjson

import (
	"bytes"
	"fmt"
)

// Lookup follows literal keys from an object into nested objects, the last occurrence of
// each key, and returns the raw value at the end. Without a path it returns raw. It
// allocates nothing unless a key in raw has an escape.
func Lookup(raw []byte, path ...string) (value []byte, ok bool) {
	at, end, ok := Place(raw, path...)
	if !ok {
		return nil, false
	}
	return raw[at:end:end], true
}

// Value is [Lookup], but returns nil for a value that is missing.
func Value(raw []byte, path ...string) []byte {
	value, _ := Lookup(raw, path...)
	return value
}

// Place is [Lookup], but returns where in raw the value begins and ends, as byte
// offsets.
func Place(raw []byte, path ...string) (at, end int, ok bool) {
	end = len(raw)
	for _, key := range path {
		base, found := at, false
		in := raw[at:end]
		walkObject(in, func(k, v span) bool {
			if KeyIs(in[k.at:k.end], key) {
				at, end, found = base+v.at, base+v.end, true
			}
			return true
		})
		if !found {
			return 0, 0, false
		}
	}
	return at, end, true
}

// SetPath returns raw with the value at the path of literal keys set, every other byte
// kept. Missing objects on the way are created. The error wraps [ErrNotObject], and names
// the key whose value is something else. Without a path it returns value.
func SetPath(raw, value []byte, path ...string) ([]byte, error) {
	if len(path) == 0 {
		return value, nil
	}
	o, err := ParseObject(raw)
	if err != nil {
		return nil, err
	}
	inner, ok := o.Get(path[0])
	if !ok {
		inner = []byte("{}")
	}
	inner, err = SetPath(inner, value, path[1:]...)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path[0], err)
	}
	o.Set(path[0], inner)
	return o.Bytes(), nil
}

// DeletePath returns raw without the value at the path of literal keys, every other byte
// kept. It returns raw itself if there is no such value.
func DeletePath(raw []byte, path ...string) []byte {
	if _, ok := Lookup(raw, path...); !ok || len(path) == 0 {
		return raw
	}
	o, err := ParseObject(raw)
	if err != nil {
		return raw
	}
	if len(path) == 1 {
		o.Unset(path[0])
		return o.Bytes()
	}
	o.Set(path[0], DeletePath(o.Value(path[0]), path[1:]...))
	return o.Bytes()
}

// Append returns a list with one more element at its end, every other byte kept. In a
// list with one element per line the new one gets a line of its own. Anything but a list
// is replaced by a list of the one value.
func Append(array, value []byte) []byte {
	lead := span{-1, -1} // what comes before the first element
	last := 0            // where the last element ends
	brackets, ok := walkArray(array, func(val span) bool {
		if lead.at < 0 {
			lead = span{skipSpace(array, 0) + 1, val.at}
		}
		last = val.end
		return true
	})
	out := make([]byte, 0, len(array)+len(value)+2+max(0, lead.end-lead.at))
	switch {
	case !ok:
		out = append(out, '[')
		out = append(out, value...)
		return append(out, ']')
	case lead.at < 0:
		out = append(out, array[:brackets.at+1]...)
		out = append(out, value...)
		return append(out, array[brackets.at+1:]...)
	}
	out = append(out, array[:last]...)
	out = append(out, ',')
	if space := array[lead.at:lead.end]; bytes.IndexByte(space, '\n') >= 0 {
		out = append(out, space...)
	}
	out = append(out, value...)
	return append(out, array[last:]...)
}

// RenameKey returns an object with every occurrence of a key renamed in its place, every
// other byte kept. An object without the key, and anything but an object, is returned as
// it is.
func RenameKey(object []byte, from, to string) []byte {
	var places []span
	walkObject(object, func(k, _ span) bool {
		if KeyIs(object[k.at:k.end], from) {
			places = append(places, k)
		}
		return true
	})
	if len(places) == 0 {
		return object
	}
	var out []byte
	done := 0
	for _, p := range places {
		out = append(append(out, object[done:p.at]...), Quote(to)...)
		done = p.end
	}
	return append(out, object[done:]...)
}
