package rawjson

import "bytes"

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
		in := raw[at:end]
		place := span{-1, -1}
		walk(in, '{', func(k, v span) bool {
			if KeyIs(in[k.at:k.end], key) {
				place = v // the last one counts
			}
			return true
		})
		if place.at < 0 {
			return 0, 0, false
		}
		end = at + place.end
		at += place.at
	}
	return at, end, true
}

// SetPath returns raw with the value at the path of literal keys set, every other byte
// kept. Missing objects on the way are created. The error wraps [ErrNotObject], and names
// the key whose value is something else. Without a path it returns value.
func SetPath(raw, value []byte, path ...string) ([]byte, error) {
	s, err := SetSplice(raw, value, path...)
	if err != nil {
		return nil, err
	}
	return s.Apply(raw), nil
}

// DeletePath returns raw without the value at the path of literal keys, every other byte
// kept. It returns raw itself if there is no such value.
func DeletePath(raw []byte, path ...string) []byte {
	if len(path) == 0 {
		return raw
	}
	last := len(path) - 1
	return Edit(raw, func(o *Object) {
		o.Edit(func(inner *Object) { inner.Unset(path[last]) }, path[:last]...)
	})
}

// Append returns a list with one more element at its end, every other byte kept. In a
// list with one element per line the new one gets a line of its own. Anything but a list
// is replaced by a list of the one value.
func Append(array, value []byte) []byte {
	l, ok := ParseList(array)
	if !ok {
		l, _ = ParseList([]byte("[]"))
	}
	l.Insert(l.Len(), value)
	return l.Bytes()
}

// AppendTexts appends to a list those texts that it lacks, each once and all at once: appending one
// by one would copy the whole list each time. If it lacks none, it is returned as it is.
func AppendTexts(array []byte, texts ...string) []byte {
	there := map[string]bool{}
	for text := range Texts(array) {
		there[text] = true
	}
	var fresh [][]byte
	for _, text := range texts {
		if !there[text] {
			there[text] = true
			fresh = append(fresh, Quote(text))
		}
	}

	if fresh == nil {
		return array
	}
	return Append(array, bytes.Join(fresh, []byte{','}))
}

// RenameKey returns an object with every occurrence of a key renamed in its place, every
// other byte kept. An object without the key, and anything but an object, is returned as
// it is.
func RenameKey(object []byte, from, to string) []byte {
	var list []Splice
	walk(object, '{', func(k, _ span) bool {
		if KeyIs(object[k.at:k.end], from) {
			list = append(list, Splice{int64(k.at), int64(k.end - k.at), Quote(to)})
		}
		return true
	})
	return Splices(object, list)
}
