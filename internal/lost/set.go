package lost

import "math/bits"

// Set is a set of texts in 11 bytes each: a hash table with open addressing that is filled
// once, to three quarters.
type Set struct{ slots []Text }

// NewSet returns a set of all texts in the lists.
func NewSet(lists ...[]Text) *Set {
	n := 0
	for _, list := range lists {
		n += len(list)
	}
	s := &Set{slots: make([]Text, n+n/3+1)}
	for _, list := range lists {
		for _, t := range list {
			if t.says() {
				s.slots[s.find(t.key())] = t.key()
			}
		}
	}
	return s
}

// Has reports whether the text is in the set.
func (s *Set) Has(t Text) bool { return t.says() && s.slots[s.find(t.key())] == t.key() }

// Shared counts the messages of a live chat of which the set has a text.
func (s *Set) Shared(chat []Text) (n int) {
	counted := false
	for _, t := range chat {
		counted = counted && t&mark != 0
		if !counted && s.Has(t) {
			n++
			counted = true
		}
	}
	return n
}

// Common counts the texts of a version that the set has.
func (s *Set) Common(version []Text) (n int) {
	for _, t := range version {
		if s.Has(t.key()) {
			n++
		}
	}
	return n
}

// find returns the slot of a text, or the free one where it belongs.
func (s *Set) find(key Text) int {
	high, _ := bits.Mul64(uint64(key), uint64(len(s.slots)))
	for i := int(high); ; i++ {
		if i == len(s.slots) {
			i = 0
		}
		if s.slots[i] == key || s.slots[i] == 0 {
			return i
		}
	}
}
