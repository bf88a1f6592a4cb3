package rawjson

import (
	"bytes"
	"hash/maphash"
	"unicode/utf8"
)

// keyTable finds members by their decoded keys: a hash table with linear probing
// that holds only the indexes of members, whose keys are in the object.
type keyTable struct {
	seed  maphash.Seed
	slots []uint32 // the index of a key's last member plus 1; 0: free. Their number is a power of 2
	used  int      // slots that are not free, with those of removed keys
	live  int      // keys that are not removed

	// before has, for each member that was read, the index plus 1 of the member
	// before it with the same key, or 0; nil if no key is repeated.
	before []uint32
}

// slotsFor returns how many slots n keys take: at least a quarter stays free.
func slotsFor(n int) int {
	slots := 16
	for slots/4*3 < n {
		slots *= 2
	}
	return slots
}

// put makes member i the last one of its key, and returns the one that was, or
// -1.
func (t *keyTable) put(c *content, i int) (last int) {
	key := c.key(i)
	at, last := t.probe(t.hash(key), func(j int) bool { return sameKey(c.key(j), key) })
	t.slots[at] = uint32(i) + 1
	if last < 0 {
		t.used++
	}
	return last
}

// add adds the object's last member, a new one, whose key no other live member
// has.
func (t *keyTable) add(c *content) {
	if t.used == len(t.slots)/4*3 {
		t.grow(c)
	}
	t.live++
	t.put(c, len(c.members)-1)
}

func (t *keyTable) grow(c *content) {
	old := t.slots
	t.slots = make([]uint32, 2*len(old))
	for _, slot := range old {
		if slot > 0 {
			at, _ := t.probe(t.hash(c.key(int(slot-1))), func(int) bool { return false })
			t.slots[at] = slot
		}
	}
}

// find returns the last member of a decoded key, which may be removed, or -1.
func (t *keyTable) find(c *content, key string) int {
	_, i := t.probe(maphash.String(t.seed, key), func(j int) bool { return KeyIs(c.key(j), key) })
	return i
}

// probe returns the slot of the key with a hash and the member that it holds, or
// the free slot where the key belongs and -1.
func (t *keyTable) probe(hash uint64, is func(i int) bool) (at, i int) {
	mask := len(t.slots) - 1
	for at = int(hash) & mask; t.slots[at] > 0; at = (at + 1) & mask {
		if i = int(t.slots[at] - 1); is(i) {
			return at, i
		}
	}
	return at, -1
}

// hash returns the hash of a raw key, which is that of the decoded key.
func (t *keyTable) hash(rawKey []byte) uint64 {
	if len(rawKey) >= 2 {
		if in := rawKey[1 : len(rawKey)-1]; plain(in) == len(in) {
			return maphash.Bytes(t.seed, in)
		}
	}
	return maphash.String(t.seed, decodeKey(rawKey))
}

// repeats reports whether any key occurred more than once.
func (t *keyTable) repeats() bool { return t.before != nil }

// earlier returns the member before member i with the same key, or -1.
func (t *keyTable) earlier(i int) int {
	if i >= len(t.before) {
		return -1
	}
	return int(t.before[i]) - 1
}

// sameKey reports whether two raw keys are the same once decoded.
func sameKey(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if literalKey(a) && literalKey(b) {
		return false
	}
	return decodeKey(a) == decodeKey(b)
}

// literalKey reports whether a raw key stands for its own bytes.
func literalKey(rawKey []byte) bool {
	return bytes.IndexByte(rawKey, '\\') < 0 && utf8.Valid(rawKey)
}
