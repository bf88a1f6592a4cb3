package rawjson

import "unicode/utf8"

// Set gives the key a value, which must be one JSON value and must not change
// afterwards. The last occurrence of a key that exists keeps its place and its
// spelling; a new key is appended.
func (o *Object) Set(key string, value []byte) { o.set(literal(key), nil, value, false) }

// SetRaw is [Object.Set] for a key as it is written in JSON, with its quotes: a
// new key keeps this spelling.
func (o *Object) SetRaw(rawKey, value []byte) {
	o.set(literal(decodeKey(rawKey)), rawKey, value, false)
}

// SetFirst is [Object.Set], but a new key becomes the first.
func (o *Object) SetFirst(key string, value []byte) { o.set(literal(key), nil, value, true) }

// set gives a literal key its value; rawKey is how a new key is spelled, nil for
// the usual way.
func (o *Object) set(key string, rawKey, value []byte, front bool) {
	o.edited = true
	if i := o.find(key); i >= 0 {
		m := &o.members[i]
		if m.val >= 0 {
			o.edits = append(o.edits, edit{})
			m.val = ^(len(o.edits) - 1)
		}
		o.edits[^m.val].val = value
		return
	}
	if rawKey == nil {
		rawKey = Quote(key)
	}
	at := ^len(o.edits)
	o.edits = append(o.edits, edit{rawKey, value, front})
	o.members = append(o.members, member{at, at})
	if o.keys != nil {
		o.keys.add(&o.content)
	}
}

// Unset removes every occurrence of the key and reports whether there was one.
func (o *Object) Unset(key string) bool {
	key = literal(key)
	i := o.find(key)
	if i < 0 {
		return false
	}
	o.edited = true
	if o.keys != nil {
		o.keys.live--
		for ; i >= 0; i = o.keys.earlier(i) {
			o.members[i].val = gone
		}
		return true
	}
	for ; i >= 0; i-- {
		if KeyIs(o.key(i), key) {
			o.members[i].val = gone
		}
	}
	return true
}

// literal returns the key as it reads once written: [Quote] writes U+FFFD for
// bytes that no JSON string can hold.
func literal(key string) string {
	if utf8.ValidString(key) {
		return key
	}
	return decodeKey(Quote(key))
}
