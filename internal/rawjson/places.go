package rawjson

import "bytes"

// Span is where a value begins and ends in the bytes around it.
type Span struct{ At, End int }

// Places finds the values of some keys of an object in one pass, the last occurrence of
// each, and returns where they are; a key that is not there has the zero Span.
func Places(raw []byte, places []Span, keys ...string) {
	clear(places)
	walkObject(raw, func(k, v span) bool {
		in := raw[k.at+1 : k.end-1]
		escaped := bytes.IndexByte(in, '\\') >= 0
		for i, key := range keys {
			if len(in) == len(key) && string(in) == key || escaped && KeyIs(raw[k.at:k.end], key) {
				places[i] = Span{v.at, v.end}
			}
		}
		return true
	})
}

// ElementPlace returns where in a list its element i begins and ends; ok is false where
// there is none, and for anything but a list.
func ElementPlace(list []byte, i int) (place Span, ok bool) {
	walkArray(list, func(v span) bool {
		if ok = i == 0; ok {
			place = Span{v.at, v.end}
		}
		i--
		return !ok
	})
	return place, ok
}
