package lost

import (
	"slices"

	"stchat/internal/folder/align"
)

// Live is a live chat, prepared for comparison with versions of it.
type Live struct {
	at    []int32        // for each text, its message
	roles []Text         // of each message: user or 0
	first map[Text]int32 // of each text, where it stands first
	next  []int32        // where it stands next; -1: nowhere
}

// NewLive prepares the texts of a live chat for Compare.
func NewLive(texts []Text) *Live {
	c := &Live{
		at:    make([]int32, len(texts)),
		first: make(map[Text]int32, len(texts)),
		next:  make([]int32, len(texts)),
	}

	for i, t := range texts {
		if t&marked == 0 {
			c.roles = append(c.roles, t&user)
		}
		c.at[i] = int32(len(c.roles) - 1)
	}

	for i, t := range slices.Backward(texts) {
		c.next[i] = -1
		if !t.says() {
			continue
		}
		if after, ok := c.first[t.key()]; ok {
			c.next[i] = after
		}
		c.first[t.key()] = int32(i)
	}
	return c
}

// Compare counts the messages of a version that neither a live chat has nor had: those that are
// lost, and those that were reworded in this one (edited, continued, regenerated).
//
// Version and chat are aligned by their common texts, in order. Between two of these, and before
// the first, a missing message counts as reworded if there is a free live message of its role: the
// next one is taken for what became of it. So does a single one after the last, unless the version
// is a copy from elsewhere, which may have been continued there. The rest is lost.
func (c *Live) Compare(version []Text, had Set, copied bool) (lost, reworded int) {
	from := align.Pair{A: -1, B: -1}
	for _, to := range c.align(version) {
		missing, matched := c.missingIn(version[from.B+1:to.B], had, c.roles[from.A+1:to.A])
		isEnd := to.B == len(version)
		if isEnd && (missing > 1 || copied) {
			matched = 0
		}
		reworded += matched
		lost += missing - matched
		from = to
	}
	return lost, reworded
}

// missingIn counts the messages of a part of a version that neither a live chat has nor had, and
// those of them for which there is a live message, of which roles has what stands in that place.
func (c *Live) missingIn(version []Text, had Set, roles []Text) (missing, matched int) {
	for _, t := range version {
		if t&marked == 0 || had.Has(t) {
			continue
		}
		missing++
		if at := slices.Index(roles, t&user); at >= 0 {
			matched++
			roles = roles[at+1:]
		}
	}
	return missing, matched
}

// align returns common messages (A of the live chat, B of the version), in the order of both, and
// the ends of both. Texts that each side has once are aligned first, as many as can be without
// crossing; then, between these, the others, from the front.
func (c *Live) align(version []Text) (all []align.Pair) {
	count := make(map[Text]int, len(version))
	for _, t := range version {
		count[t.key()]++
	}
	var unique []align.Pair
	for i, t := range version {
		if at, ok := c.first[t.key()]; ok && count[t.key()] == 1 && c.next[at] < 0 {
			unique = append(unique, align.Pair{A: int(c.at[at]), B: i})
		}
	}

	from := align.Pair{A: -1, B: -1}
	cursor := map[Text]int32{} // a text that is said a million times is not followed from its first place each time
	for _, to := range append(align.Rising(unique), align.Pair{A: len(c.roles), B: len(version)}) {
		live := from.A + 1
		for i := from.B + 1; i < to.B && live < to.A; i++ {
			key := version[i].key()
			at, ok := cursor[key]
			if !ok {
				at, ok = c.first[key]
			}
			if !ok {
				continue
			}
			for at >= 0 && int(c.at[at]) < live {
				at = c.next[at]
			}
			cursor[key] = at
			if at >= 0 && int(c.at[at]) < to.A {
				all = append(all, align.Pair{A: int(c.at[at]), B: i})
				live = int(c.at[at]) + 1
			}
		}

		all = append(all, to)
		from = to
	}
	return all
}
