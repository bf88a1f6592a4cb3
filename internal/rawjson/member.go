package rawjson

import "math"

// member is where one key and its value begin in src. Millions of members may be
// in a few megabytes, so nothing more is kept of one: where a key and a value end
// is found by looking back from what follows them.
type member struct {
	key int // its quote in src; below 0: that of edits[^key], for a new member
	val int // below 0: that of edits[^val]; gone: the member was removed
}

// gone is the val of a member that was removed.
const gone = math.MinInt

// edit is what was set of a member.
type edit struct {
	key   []byte // raw, with its quotes; nil where src has the key
	val   []byte // raw
	front bool   // a new member that goes to the front; the last one set comes first
}

// live reports whether a member was not removed.
func (o *Object) live(i int) bool { return o.members[i].val != gone }

// fronted reports whether a member is a new one that goes to the front.
func (o *Object) fronted(i int) bool {
	m := o.members[i]
	return m.key < 0 && o.edits[^m.key].front
}

// key returns a member's raw key, with its quotes, also of one that was removed.
func (o *Object) key(i int) []byte {
	m := o.members[i]
	if m.key < 0 {
		return o.edits[^m.key].key
	}
	var end int
	if m.val < 0 {
		end = skipString(o.src, m.key)
	} else {
		end = backSpace(o.src, backSpace(o.src, m.val)-1) // a colon stands before
	}
	return o.src[m.key:end:end]
}

// value returns the raw value of a member that was not removed.
func (o *Object) value(i int) []byte {
	m := o.members[i]
	if m.val < 0 {
		return o.edits[^m.val].val
	}
	end := o.valueEnd(i)
	return o.src[m.val:end:end]
}

// valueEnd returns where in src the value ends that a member of src had there.
func (o *Object) valueEnd(i int) int {
	if i+1 == o.read {
		return backSpace(o.src, o.braces.end)
	}
	return backSpace(o.src, backSpace(o.src, o.members[i+1].key)-1) // a comma stands before
}

// backSpace returns where the JSON white space begins that ends at i.
func backSpace(b []byte, i int) int {
	for i > 0 {
		switch b[i-1] {
		case ' ', '\t', '\n', '\r':
			i--
		default:
			return i
		}
	}
	return i
}
