package rawjson

import (
	"bytes"
	"errors"
	"slices"
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
	const many = 4096 // append would hold twice as much while growing to millions
	braces, ok := walk(raw, '{', func(key, val span) bool {
		if len(o.members) == many {
			o.members = slices.Grow(o.members, countMembers(raw)-many)
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
	for range Members(raw) {
		n++
	}
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
func (o *Object) Set(key string, value []byte) { o.set(literal(key), nil, value) }

// SetRaw is [Object.Set] for a key as it is written in JSON, with its quotes: a
// new key keeps this spelling.
func (o *Object) SetRaw(rawKey, value []byte) {
	o.set(literal(decodeKey(rawKey)), rawKey, value)
}

// SetFirst is [Object.Set], but a new key becomes the first. It writes the whole object anew.
func (o *Object) SetFirst(key string, value []byte) {
	if o.Has(key) {
		o.Set(key, value)
		return
	}
	rest, _ := ParseObject(o.Bytes())
	fresh := slices.Concat(Quote(key), rest.layout().colon, value)
	at := rest.braces.at + 1
	if rest.read > 0 {
		fresh, at = append(fresh, rest.layout().gap...), rest.members[0].key
	}
	first, _ := ParseObject((&Splice{At: int64(at), Data: fresh}).Apply(rest.src))
	first.edited = true
	*o = *first
}

// set sets the value of a literal key; rawKey is how a new key is spelled, nil for the
// usual way.
func (o *Object) set(key string, rawKey, value []byte) {
	o.edited = true
	if i := o.find(key); i >= 0 {
		o.edit(i).val = value
		return
	}
	if rawKey == nil {
		rawKey = Quote(key)
	}
	*o.edit(len(o.members)) = edit{key: rawKey, val: value}
	o.members = append(o.members, member{})
	if o.last != nil {
		o.note(key, len(o.members)-1)
	}
}

// Unset removes every occurrence of the key and reports whether there was one.
func (o *Object) Unset(key string) (removed bool) {
	key = literal(key)
	for i := o.find(key); i >= 0; i = o.find(key) {
		o.remove(key, i)
		o.edited, removed = true, true
	}
	return removed
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
	for _, e := range o.edits {
		size += len(e.key) + len(e.val) + 16
	}
	as := o.layout()
	out := append(make([]byte, 0, size), o.src[:o.braces.at+1]...)
	any := false
	for i, m := range o.members {
		switch {
		case !o.live(i):
			continue
		case !any:
			out = append(out, as.lead...)
		case i == 0 || i >= o.read:
			out = append(out, as.gap...)
		default:
			out = append(out, o.src[o.valueEnd(i-1):m.key]...)
		}

		any = true
		key, colon := o.key(i), as.colon
		if i < o.read {
			colon = o.src[m.key+len(key) : m.val]
		}
		out = append(append(append(out, key...), colon...), o.value(i)...)
	}

	if any {
		out = append(out, as.tail...)
	}
	return append(out, o.src[o.braces.end:]...)
}

// layout is how an object is written.
type layout struct {
	lead  []byte // what comes before the first member
	gap   []byte // what comes before a new one
	colon []byte // what comes between its key and its value
	tail  []byte // what comes after the last member
}

func (o *Object) layout() layout {
	as := layout{gap: []byte{','}, colon: []byte{':'}, tail: o.src[o.braces.at+1 : o.braces.end]}
	if o.read == 0 {
		return as
	}
	first := o.members[0]
	as.lead, as.tail = o.src[o.braces.at+1:first.key], o.src[o.valueEnd(o.read-1):o.braces.end]
	if bytes.IndexByte(as.lead, '\n') >= 0 {
		as.gap = slices.Concat(as.gap, as.lead)
		if colon := o.src[first.key+len(o.key(0)) : first.val]; bytes.IndexByte(colon, '\n') < 0 {
			as.colon = colon
		}
	}
	return as
}

// literal returns the key as it reads back once written: [Quote] writes U+FFFD for
// bytes that no JSON string can hold.
func literal(key string) string {
	if utf8.ValidString(key) {
		return key
	}
	return decodeKey(Quote(key))
}
