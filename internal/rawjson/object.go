package rawjson

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// ErrNotObject means that the bytes given are not one whole JSON object.
var ErrNotObject = errors.New("not a JSON object")

// Object is one JSON object, read from its bytes, that can be edited. Edits are kept
// beside the bytes until [Object.Bytes] splices them in. An Object is not safe for use
// by several goroutines at once.
type Object struct {
	content
	edited bool
}

// ParseObject reads the members of the object in raw; white space around it is allowed
// and kept. Values are not parsed. raw is aliased, not copied, so it must not change
// while the Object is in use. The error is [ErrNotObject].
func ParseObject(raw []byte) (*Object, error) {
	o := &Object{content: content{src: raw}}
	const many = 4096 // append would hold twice as much while growing to millions, and leave garbage
	braces, ok := walkObject(raw, func(key, val span) bool {
		if len(o.members) == many {
			o.members = append(make([]member, 0, countMembers(raw)), o.members...)
		}
		o.members = append(o.members, member{key.at, val.at})
		return true
	})
	if !ok {
		return nil, ErrNotObject
	}
	o.braces, o.read = braces, len(o.members)
	return o, nil
}

// countMembers returns how many members the object in raw has, up to the first
// place that is not JSON.
func countMembers(raw []byte) int {
	n := 0
	walkObject(raw, func(span, span) bool {
		n++
		return true
	})
	return n
}

// NewObject returns the empty object {}.
func NewObject() *Object {
	return &Object{content: content{src: []byte("{}"), braces: span{0, 1}}}
}

// Edited reports whether any edit was made since the object was read.
func (o *Object) Edited() bool { return o.edited }

// Get returns the raw value of the key's last occurrence.
func (o *Object) Get(key string) (raw []byte, ok bool) {
	i := o.find(literal(key))
	if i < 0 {
		return nil, false
	}
	return o.value(i), true
}

// Value returns the raw value of the key's last occurrence, nil if there is none.
func (o *Object) Value(key string) []byte {
	raw, _ := o.Get(key)
	return raw
}

// Object parses the object at a key; ok is false if there is none. Edits to it do not
// change o.
func (o *Object) Object(key string) (inner *Object, ok bool) {
	raw, ok := o.Get(key)
	if !ok {
		return nil, false
	}
	inner, err := ParseObject(raw)
	return inner, err == nil
}

// Keys returns the decoded keys in the order of [Object.All], so that the object can
// be edited while going through them.
func (o *Object) Keys() []string {
	keys := make([]string, 0, o.Len())
	for key := range o.All() {
		keys = append(keys, key)
	}
	return keys
}

// Has reports whether the object has the key.
func (o *Object) Has(key string) bool { return o.find(literal(key)) >= 0 }

// Set sets the key's value, which must be one JSON value and must not change
// afterwards. The last occurrence of an existing key keeps its place and its spelling;
// a new key is appended.
func (o *Object) Set(key string, value []byte) { o.set(literal(key), nil, value, false) }

// SetRaw is [Object.Set] for a key as it is written in JSON, with its quotes: a
// new key keeps this spelling.
func (o *Object) SetRaw(rawKey, value []byte) {
	o.set(literal(decodeKey(rawKey)), rawKey, value, false)
}

// SetFirst is [Object.Set], but a new key becomes the first.
func (o *Object) SetFirst(key string, value []byte) { o.set(literal(key), nil, value, true) }

// set sets the value of a literal key; rawKey is how a new key is spelled, nil for the
// usual way.
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
		o.keys.add(key, len(o.members)-1)
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

// Bytes returns the object with its edits spliced in and every other byte as it was
// read; without edits, the slice that was read. With a removed member go one comma and
// the white space on one side of it. A new member is written compactly, unless the
// object has one member per line: then it gets a line of its own, too.
func (o *Object) Bytes() []byte {
	if !o.edited {
		return o.src
	}
	size := len(o.src)
	for i := range o.edits {
		size += len(o.edits[i].key) + len(o.edits[i].val) + 16
	}
	w := splicer{out: make([]byte, 0, size), lead: []byte{}, gap: []byte{','}, colon: []byte{':'}}
	w.out = append(w.out, o.src[:o.braces.at+1]...)
	tail := o.src[o.braces.at+1 : o.braces.end]
	if o.read > 0 {
		first := o.members[0].key
		tail = o.src[o.valueEnd(o.read-1):o.braces.end]
		w.lead = o.src[o.braces.at+1 : first]
		if bytes.IndexByte(w.lead, '\n') >= 0 {
			w.gap = append(w.gap, w.lead...)
			key := first + len(o.key(0))
			w.colon = o.src[key:valueStart(o.src, key)]
			if bytes.IndexByte(w.colon, '\n') >= 0 {
				w.colon = []byte{':'}
			}
		}
	}
	for i := len(o.members) - 1; i >= o.read; i-- {
		if o.live(i) && o.fronted(i) {
			w.add(o.key(i), o.value(i))
		}
	}
	w.addRead(&o.content)
	for i := o.read; i < len(o.members); i++ {
		if o.live(i) && !o.fronted(i) {
			w.add(o.key(i), o.value(i))
		}
	}
	if w.any {
		w.out = append(w.out, tail...)
	}
	return append(w.out, o.src[o.braces.end:]...)
}

// literal returns the key as it reads back once written: [Quote] writes U+FFFD for
// bytes that no JSON string can hold.
func literal(key string) string {
	if utf8.ValidString(key) {
		return key
	}
	return decodeKey(Quote(key))
}
