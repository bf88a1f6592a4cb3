package rawjson

import (
	"iter"
	"math"
	"slices"
)

// content holds the members of an object, in its bytes or beside them.
type content struct {
	src    []byte
	braces span
	// members has those of src in the order written, then the new ones in the order
	// set.
	members []member
	read    int    // how many of members are in src
	edits   []edit // keys and values that are not in src
	// keys finds a key's last member. It is built once the object is large and
	// searched often enough to be worth it; nil until then.
	keys     *keyTable
	searches int
}

// member says where one key and its value begin in src. A few megabytes may have
// millions of members, so no more is kept of each: the ends of key and value are
// found by looking back from what follows them.
type member struct {
	key int // its opening quote in src; below 0: the key of edits[^key], for a new member
	val int // its value in src; below 0: that of edits[^val]; gone: the member was removed
}

// gone is the val of a member that was removed.
const gone = math.MinInt

// edit is what was set for a member.
type edit struct {
	key   []byte // raw, with its quotes; nil if src has the key
	val   []byte // raw
	front bool   // a new member that goes to the front; the last one set comes first
}

// live reports whether member i has not been removed.
func (c *content) live(i int) bool { return c.members[i].val != gone }

// fronted reports whether member i is a new one that goes to the front.
func (c *content) fronted(i int) bool {
	m := c.members[i]
	return m.key < 0 && c.edits[^m.key].front
}

// key returns a member's raw key, with its quotes, even of one that was removed.
func (c *content) key(i int) []byte {
	m := c.members[i]
	if m.key < 0 {
		return c.edits[^m.key].key
	}
	var end int
	if m.val < 0 {
		end = skipString(c.src, m.key)
	} else {
		end = backSpace(c.src, backSpace(c.src, m.val)-1) // a colon stands before
	}
	return c.src[m.key:end:end]
}

// value returns the raw value of a member that was not removed.
func (c *content) value(i int) []byte {
	m := c.members[i]
	if m.val < 0 {
		return c.edits[^m.val].val
	}
	end := c.valueEnd(i)
	return c.src[m.val:end:end]
}

// valueEnd returns where in src the original value of a member of src ends.
func (c *content) valueEnd(i int) int {
	if i+1 == c.read {
		return backSpace(c.src, c.braces.end)
	}
	return backSpace(c.src, backSpace(c.src, c.members[i+1].key)-1) // a comma stands before
}

// find returns the last live member with the key, or -1.
func (c *content) find(key string) int {
	// A few searches cost less than an index; many in a large object do not.
	const small, few = 16, 4
	if c.keys == nil && len(c.members) > small {
		if c.searches++; c.searches > few {
			c.index()
		}
	}
	if c.keys != nil {
		if i := c.keys.find(key); i >= 0 && c.live(i) {
			return i
		}
		return -1
	}
	for i := range slices.Backward(c.members) {
		if c.live(i) && KeyIs(c.key(i), key) {
			return i
		}
	}
	return -1
}

// index builds the key table, unless there is one.
func (c *content) index() {
	if c.keys != nil {
		return
	}
	t := &keyTable{last: make(map[string]int, len(c.members))}
	c.keys = t
	for i := range c.members {
		if !c.live(i) {
			continue
		}
		key := decodeKey(c.key(i))
		if last, ok := t.last[key]; ok {
			if t.before == nil {
				t.before = map[int]int{}
			}
			t.before[i] = last
			t.live--
		}
		t.add(key, i)
	}
}

// keyTable finds members by their decoded keys.
type keyTable struct {
	last map[string]int // the last member of a key, which may be removed
	live int            // keys that are not removed

	// before has, for a member with a repeated key, the member before it with the same key.
	before map[int]int
}

// find returns the last member of a decoded key, which may be removed, or -1.
func (t *keyTable) find(key string) int {
	if i, ok := t.last[key]; ok {
		return i
	}
	return -1
}

// add adds a member of a decoded key, whose last one it becomes.
func (t *keyTable) add(key string, i int) {
	t.live++
	t.last[key] = i
}

// repeats reports whether any key occurred more than once.
func (t *keyTable) repeats() bool { return len(t.before) > 0 }

// earlier returns the member before member i with the same key, or -1.
func (t *keyTable) earlier(i int) int {
	if j, ok := t.before[i]; ok {
		return j
	}
	return -1
}

// Len returns the number of distinct keys.
func (c *content) Len() int {
	c.index()
	return c.keys.live
}

// All yields each decoded key once, with its raw value, in the order in which
// [Object.Bytes] writes them: a repeated key at its first place, with its last
// value. The object must not be edited meanwhile.
func (c *content) All() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		c.index()
		visit := func(i int) bool {
			if c.keys.earlier(i) >= 0 {
				return true
			}
			key, last := decodeKey(c.key(i)), i
			if c.keys.repeats() {
				last = c.find(key)
			}
			return yield(key, c.value(last))
		}
		for i := len(c.members) - 1; i >= c.read; i-- {
			if c.live(i) && c.fronted(i) && !visit(i) {
				return
			}
		}
		for i := range c.members {
			if c.live(i) && !c.fronted(i) && !visit(i) {
				return
			}
		}
	}
}

// Duplicates returns how many of the decoded keys occur more than once, and the one
// whose second occurrence comes first.
func (c *content) Duplicates() (first string, n int) {
	c.index()
	if !c.keys.repeats() {
		return "", 0
	}
	for i := range c.members {
		before := c.keys.earlier(i)
		if !c.live(i) || before < 0 || c.keys.earlier(before) >= 0 {
			continue // gone, a first occurrence, or a third and later one
		}
		if n++; n == 1 {
			first = decodeKey(c.key(i))
		}
	}
	return first, n
}

// backSpace returns where the JSON white space that ends at i begins.
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
