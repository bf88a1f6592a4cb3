package rawjson

import (
	"bytes"
	"errors"
	"iter"
	"unicode/utf8"
)

// ErrNotObject says that the bytes given are not one whole JSON object.
var ErrNotObject = errors.New("not a JSON object")

// Object is one JSON object, read from its bytes and open to edits. Edits are
// kept beside the bytes until [Object.Bytes] splices them in. An Object is not
// safe for use by several goroutines at once.
type Object struct {
	src    []byte
	braces span
	// members holds those of src in the order written, then the new ones in the
	// order set.
	members []member
	edited  bool
	// last maps a decoded key to its last live member. It is built when the
	// object is large and asked often enough to be worth it; nil until then.
	last     map[string]int
	searches int
}

// member is one key with its value.
type member struct {
	key, val []byte // raw, the key with its quotes
	place    span   // from the key's quote to the value's end in src; for a new member 0,0
	before   int    // the member before with the same key, or -1; kept only while last is
	state    state
}

// state says what an edit did to a member.
type state uint8

const (
	asRead   state = iota
	replaced       // in src, with another value
	removed
	appended // not in src, goes to the end
	fronted  // not in src, goes to the front; the last one set comes first
)

// ParseObject reads the members of the object in raw; white space around it is
// tolerated and kept. Values are not looked into. raw is aliased, not copied, so
// it must not change while the Object is in use. The error is [ErrNotObject].
func ParseObject(raw []byte) (*Object, error) {
	o := &Object{src: raw}
	braces, ok := walkObject(raw, func(key, val span) bool {
		o.members = append(o.members, member{
			key:    raw[key.at:key.end:key.end],
			val:    raw[val.at:val.end:val.end],
			place:  span{key.at, val.end},
			before: -1,
		})
		return true
	})
	if !ok {
		return nil, ErrNotObject
	}
	o.braces = braces
	return o, nil
}

// NewObject returns the empty object {}.
func NewObject() *Object {
	return &Object{src: []byte("{}"), braces: span{0, 1}}
}

// Edited reports whether any edit was made since the object was read.
func (o *Object) Edited() bool { return o.edited }

// Get returns the raw value of the key's last occurrence.
func (o *Object) Get(key string) (raw []byte, ok bool) {
	i := o.find(literal(key))
	if i < 0 {
		return nil, false
	}
	return o.members[i].val, true
}

// Has reports whether the object has the key.
func (o *Object) Has(key string) bool { return o.find(literal(key)) >= 0 }

// Len returns the number of distinct keys.
func (o *Object) Len() int {
	o.index()
	return len(o.last)
}

// All yields each decoded key once, in the order [Object.Bytes] writes them: a
// repeated key at its first place, with its last value. The object must not be
// edited meanwhile.
func (o *Object) All() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		o.index()
		visit := func(m *member) bool {
			if m.before >= 0 {
				return true
			}
			key := decodeKey(m.key)
			return yield(key, o.members[o.last[key]].val)
		}
		for i := len(o.members) - 1; i >= 0 && o.members[i].place == (span{}); i-- {
			if o.members[i].state == fronted && !visit(&o.members[i]) {
				return
			}
		}
		for i := range o.members {
			if s := o.members[i].state; s != fronted && s != removed && !visit(&o.members[i]) {
				return
			}
		}
	}
}

// Duplicates returns the decoded keys that occur more than once, in the order of
// their second occurrence.
func (o *Object) Duplicates() []string {
	o.index()
	var keys []string
	for i := range o.members {
		m := &o.members[i]
		if m.state == removed || m.before < 0 || o.members[m.before].before >= 0 {
			continue // gone, a first occurrence, or a third and later one
		}
		keys = append(keys, decodeKey(m.key))
	}
	return keys
}

// Set gives the key a value, which must be one JSON value and must not change
// afterwards. The last occurrence of a key that exists keeps its place and its
// spelling; a new key is appended.
func (o *Object) Set(key string, value []byte) { o.set(literal(key), nil, value, appended) }

// SetRaw is [Object.Set] for a key as it is written in JSON, with its quotes: a
// new key keeps this spelling.
func (o *Object) SetRaw(rawKey, value []byte) {
	o.set(literal(decodeKey(rawKey)), rawKey, value, appended)
}

// SetFirst is [Object.Set], but a new key becomes the first.
func (o *Object) SetFirst(key string, value []byte) { o.set(literal(key), nil, value, fronted) }

// set gives a literal key its value; rawKey is how a new key is spelled, nil for
// the usual way.
func (o *Object) set(key string, rawKey, value []byte, where state) {
	o.edited = true
	if i := o.find(key); i >= 0 {
		m := &o.members[i]
		m.val = value
		if m.state == asRead {
			m.state = replaced
		}
		return
	}
	if rawKey == nil {
		rawKey = Quote(key)
	}
	o.members = append(o.members, member{key: rawKey, val: value, before: -1, state: where})
	if o.last != nil {
		o.last[key] = len(o.members) - 1
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
	if o.last != nil {
		for ; i >= 0; i = o.members[i].before {
			o.members[i].state = removed
		}
		delete(o.last, key)
		return true
	}
	for ; i >= 0; i-- {
		if m := &o.members[i]; KeyIs(m.key, key) {
			m.state = removed
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

// find returns the last live member with the key, or -1.
func (o *Object) find(key string) int {
	// A few searches cost less than an index; many in a large object do not.
	const small, few = 16, 4
	if o.last == nil && len(o.members) > small {
		if o.searches++; o.searches > few {
			o.index()
		}
	}
	if o.last != nil {
		if i, ok := o.last[key]; ok {
			return i
		}
		return -1
	}
	for i := len(o.members) - 1; i >= 0; i-- {
		if m := &o.members[i]; m.state != removed && KeyIs(m.key, key) {
			return i
		}
	}
	return -1
}

// index builds last and the chains of repeated keys.
func (o *Object) index() {
	if o.last != nil {
		return
	}
	o.last = make(map[string]int, len(o.members))
	for i := range o.members {
		m := &o.members[i]
		if m.state == removed {
			continue
		}
		key := decodeKey(m.key)
		m.before = -1
		if at, ok := o.last[key]; ok {
			m.before = at
		}
		o.last[key] = i
	}
}

// Bytes returns the object with its edits spliced in and every other byte as it
// was read; without edits, the very bytes read. A removed member takes one comma
// and the white space on one side of it along. A new member is written compactly,
// unless the object has a member a line: then it gets a line of its own too.
func (o *Object) Bytes() []byte {
	if !o.edited {
		return o.src
	}
	read := 0 // members that src holds
	size := len(o.src)
	for i := range o.members {
		m := &o.members[i]
		if m.place != (span{}) {
			read++
		}
		if m.state != asRead {
			size += len(m.key) + len(m.val) + 16
		}
	}
	w := splicer{out: make([]byte, 0, size), lead: []byte{}, gap: []byte{','}, colon: []byte{':'}}
	w.out = append(w.out, o.src[:o.braces.at+1]...)
	tail := o.src[o.braces.at+1 : o.braces.end]
	if read > 0 {
		first, end := &o.members[0], &o.members[read-1]
		tail = o.src[end.place.end:o.braces.end]
		w.lead = o.src[o.braces.at+1 : first.place.at]
		if bytes.IndexByte(w.lead, '\n') >= 0 {
			w.gap = append(w.gap, w.lead...)
			afterKey := o.src[first.place.at+len(first.key) : first.place.end]
			w.colon = afterKey[:skipSpace(afterKey, skipSpace(afterKey, 0)+1)]
			if bytes.IndexByte(w.colon, '\n') >= 0 {
				w.colon = []byte{':'}
			}
		}
	}
	for i := len(o.members) - 1; i >= read; i-- {
		if m := &o.members[i]; m.state == fronted {
			w.add(m)
		}
	}
	o.spliceRead(&w, read)
	for i := read; i < len(o.members); i++ {
		if m := &o.members[i]; m.state == appended {
			w.add(m)
		}
	}
	if w.any {
		w.out = append(w.out, tail...)
	}
	return append(w.out, o.src[o.braces.end:]...)
}

// spliceRead writes the members that came from src, each with what stood before
// it, the first one written with what stood before the first.
func (o *Object) spliceRead(w *splicer, read int) {
	for i := range o.members[:read] {
		m := &o.members[i]
		if m.state == removed {
			continue
		}
		switch {
		case !w.any:
			w.out = append(w.out, w.lead...)
		case i == 0:
			w.out = append(w.out, w.gap...)
		default:
			w.out = append(w.out, o.src[o.members[i-1].place.end:m.place.at]...)
		}
		w.any = true
		if m.state == asRead {
			w.out = append(w.out, o.src[m.place.at:m.place.end]...)
			continue
		}
		end := skipValueStart(o.src, m.place.at+len(m.key))
		w.out = append(w.out, o.src[m.place.at:end]...)
		w.out = append(w.out, m.val...)
	}
}

// skipValueStart returns where the value begins whose key ends at i.
func skipValueStart(b []byte, i int) int {
	return skipSpace(b, skipSpace(b, i)+1)
}

// splicer writes the members of an edited object.
type splicer struct {
	out   []byte
	lead  []byte // what stands before the first member
	gap   []byte // what stands before a new one
	colon []byte // what stands between its key and its value
	any   bool   // a member has been written
}

// add writes a new member.
func (w *splicer) add(m *member) {
	if w.any {
		w.out = append(w.out, w.gap...)
	} else {
		w.out = append(w.out, w.lead...)
	}
	w.any = true
	w.out = append(w.out, m.key...)
	w.out = append(w.out, w.colon...)
	w.out = append(w.out, m.val...)
}
