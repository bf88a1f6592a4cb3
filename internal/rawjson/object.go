package rawjson

import (
	"errors"
	"iter"
)

// ErrNotObject means that the bytes given are not one whole JSON object.
var ErrNotObject = errors.New("not a JSON object")

// Object is one JSON object, read from its bytes and open to edits. Edits are
// kept beside the bytes until [Object.Bytes] splices them in. An Object is not
// safe for use by several goroutines at once.
type Object struct {
	content
	edited bool
}

// ParseObject reads the members of the object in raw; white space around it is
// tolerated and kept. Values are not looked into. raw is aliased, not copied, so
// it must not change while the Object is in use. The error is [ErrNotObject].
func ParseObject(raw []byte) (*Object, error) {
	o := &Object{content: content{src: raw}}
	const many = 4096 // growing on to millions would hold as much again, and leave as much behind
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

// Object opens the object at a key; ok is false where there is none.
func (o *Object) Object(key string) (inner *Object, ok bool) {
	raw, ok := o.Get(key)
	if !ok {
		return nil, false
	}
	inner, err := ParseObject(raw)
	return inner, err == nil
}

// Keys returns the keys in the order of [Object.All], so that the object can be edited
// on the way through them.
func (o *Object) Keys() []string {
	keys := make([]string, 0, o.Len())
	for key := range o.All() {
		keys = append(keys, key)
	}
	return keys
}

// Has reports whether the object has the key.
func (o *Object) Has(key string) bool { return o.find(literal(key)) >= 0 }

// Len returns the number of distinct keys.
func (o *Object) Len() int {
	o.index()
	return o.keys.live
}

// All yields each decoded key once, in the order [Object.Bytes] writes them: a
// repeated key at its first place, with its last value. The object must not be
// edited meanwhile.
func (o *Object) All() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		o.index()
		visit := func(i int) bool {
			if o.keys.earlier(i) >= 0 {
				return true
			}
			key, last := decodeKey(o.key(i)), i
			if o.keys.repeats() {
				last = o.find(key)
			}
			return yield(key, o.value(last))
		}
		for i := len(o.members) - 1; i >= o.read; i-- {
			if o.live(i) && o.fronted(i) && !visit(i) {
				return
			}
		}
		for i := range o.members {
			if o.live(i) && !o.fronted(i) && !visit(i) {
				return
			}
		}
	}
}

// Duplicates returns how many of the decoded keys occur more than once, and the one
// whose second occurrence comes first.
func (o *Object) Duplicates() (first string, n int) {
	o.index()
	if !o.keys.repeats() {
		return "", 0
	}
	for i := range o.members {
		before := o.keys.earlier(i)
		if !o.live(i) || before < 0 || o.keys.earlier(before) >= 0 {
			continue // gone, a first occurrence, or a third and later one
		}
		if n++; n == 1 {
			first = decodeKey(o.key(i))
		}
	}
	return first, n
}
