package rawjson

import "bytes"

// Span says where a value begins and ends in the bytes around it.
type Span struct{ At, End int }

// Places finds the values of some literal keys of an object in one pass, the last
// occurrence of each, and stores the place of keys[i] in places[i]: the zero Span if
// the key is missing. places must be at least as long as keys.
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

// ElementPlace returns where in a list its element i, from 0, begins and ends; ok is
// false if there is none, and for anything but a list.
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
