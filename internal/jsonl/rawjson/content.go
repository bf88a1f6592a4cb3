package rawjson

import (
	"iter"
	"slices"
)

// content holds the members of an object, in its bytes or beside them.
type content struct {
	src     []byte
	braces  span
	members []member      // those of src in the order written, then the new ones in the order set
	read    int           // how many of members are in src
	edits   map[int]*edit // what was set, by member
	// last finds a key's last member. It is made once the object is large and searched
	// often enough to be worth it; nil until then.
	last     map[string]int
	before   map[int]int // for a member with a repeated key: the one before it with the same key
	searches int
}

// member says where in src a key and its value begin; nothing for a new one. A few megabytes may
// have millions of members, so no more is kept of each.
type member struct{ key, val int }

// edit is what was set for a member.
type edit struct {
	key  []byte // raw, with its quotes; nil if src has the key
	val  []byte // raw
	gone bool   // the member was removed
}

// live reports whether member i has not been removed.
func (c *content) live(i int) bool {
	e := c.edits[i]
	return e == nil || !e.gone
}

// key returns a member's raw key, with its quotes, even of one that was removed.
func (c *content) key(i int) []byte {
	if i >= c.read {
		return c.edits[i].key
	}
	at := c.members[i].key
	end := skipString(c.src, at)
	return c.src[at:end:end]
}

// value returns the raw value of a member that was not removed.
func (c *content) value(i int) []byte {
	if e := c.edits[i]; e != nil {
		return e.val
	}
	end := c.valueEnd(i)
	return c.src[c.members[i].val:end:end]
}

// valueEnd returns where in src the original value of a member of src ends.
func (c *content) valueEnd(i int) int { return skipValue(c.src, c.members[i].val) }

// find returns the last live member with the key, or -1.
func (c *content) find(key string) int {
	// A few searches cost less than an index; many in a large object do not.
	const small, few = 16, 4
	if c.last == nil && len(c.members) > small {
		if c.searches++; c.searches > few {
			c.index()
		}
	}

	if c.last != nil {
		if i, ok := c.last[key]; ok {
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

// index makes last, unless it is made.
func (c *content) index() {
	if c.last != nil {
		return
	}
	c.last = make(map[string]int, len(c.members))
	for i := range c.members {
		if c.live(i) {
			c.note(decodeKey(c.key(i)), i)
		}
	}
}

// note makes member i the last one of a decoded key.
func (c *content) note(key string, i int) {
	if last, ok := c.last[key]; ok {
		if c.before == nil {
			c.before = map[int]int{}
		}
		c.before[i] = last
	}
	c.last[key] = i
}

// edit returns what is set for member i, to be changed.
func (c *content) edit(i int) *edit {
	if c.edits == nil {
		c.edits = map[int]*edit{}
	}
	if c.edits[i] == nil {
		c.edits[i] = &edit{}
	}
	return c.edits[i]
}

// remove removes the last member of a key, i.
func (c *content) remove(key string, i int) {
	c.edit(i).gone = true
	if c.last == nil {
		return
	}
	delete(c.last, key)
	if before, ok := c.before[i]; ok {
		c.last[key] = before
	}
}

// Len returns the number of distinct keys.
func (c *content) Len() int {
	c.index()
	return len(c.last)
}

// All yields each decoded key once, with its raw value, in the order in which
// [Object.Bytes] writes them: a repeated key at its first place, with its last
// value. The object must not be edited meanwhile.
func (c *content) All() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		c.index()
		for i := range c.members {
			if _, repeated := c.before[i]; repeated || !c.live(i) {
				continue
			}
			if key := decodeKey(c.key(i)); !yield(key, c.value(c.last[key])) {
				return
			}
		}
	}
}

// Duplicates returns how many of the decoded keys occur more than once, and the one
// whose second occurrence comes first.
func (c *content) Duplicates() (first string, n int) {
	c.index()
	for i := range c.members {
		before, repeated := c.before[i]
		_, third := c.before[before]
		if !repeated || third || !c.live(i) {
			continue
		}
		if n++; n == 1 {
			first = decodeKey(c.key(i))
		}
	}
	return first, n
}
