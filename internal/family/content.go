package family

import (
	"bytes"
	"cmp"
	"slices"
)

// parting is where a chat leaves the trunk of its kin, by content alone.
type parting struct {
	trunk *Chat
	depth int // how many messages both begin with
}

// stretch is a set of chats that begin with the same messages.
type stretch struct {
	chats []*Chat
	depth int     // how many messages they are known to share; after extend, how many they do
	heads []*Chat // the trunk of each part that goes on together; nil: that of the stretch in tails
	tails []int   // the number of that stretch
}

// partings finds for every chat with kin where it leaves their trunk. inherited reports
// whether the message before a depth is not a chat's own but its parent's: such a chat is no
// trunk there, if another can be.
func partings(chats []*Chat, inherited func(c *Chat, depth int) bool) map[*Chat]parting {
	var begun []*Chat
	for _, c := range chats {
		if len(c.Messages) > 0 {
			begun = append(begun, c)
		}
	}
	all := &stretch{chats: begun}
	list := []*stretch{all}
	list = all.split(list)
	all.heads, all.tails = nil, nil // these share nothing
	for i := 1; i < len(list); i++ {
		s := list[i]
		s.extend()
		list = s.split(list)
	}
	found := map[*Chat]parting{}
	trunks := make([]*Chat, len(list))
	for i := len(list) - 1; i > 0; i-- {
		s := list[i]
		for k, t := range s.tails {
			if t > 0 {
				s.heads[k] = trunks[t]
			}
		}
		trunk := slices.MinFunc(s.heads, func(a, b *Chat) int {
			return cmp.Or(
				compareBool(inherited(a, s.depth), inherited(b, s.depth)),
				CompareDates(nextDate(a, s.depth), nextDate(b, s.depth)),
				cmp.Compare(a.Name, b.Name),
			)
		})
		for _, c := range s.heads {
			if c != trunk {
				found[c] = parting{trunk, s.depth}
			}
		}
		trunks[i] = trunk
	}
	return found
}

// extend increases depth as far as all chats of the stretch go on together.
func (s *stretch) extend() {
	first := s.chats[0].Messages
	for s.depth < len(first) {
		for _, c := range s.chats {
			if len(c.Messages) == s.depth || c.Messages[s.depth].ID != first[s.depth].ID {
				return
			}
		}
		s.depth++
	}
}

// split divides the chats of a stretch by their next message, and appends to list the
// stretches of those that go on together.
func (s *stretch) split(list []*stretch) []*stretch {
	next := func(c *Chat) []byte {
		if len(c.Messages) == s.depth {
			return nil
		}
		return c.Messages[s.depth].ID[:]
	}
	slices.SortStableFunc(s.chats, func(a, b *Chat) int { return bytes.Compare(next(a), next(b)) })
	for from := 0; from < len(s.chats); {
		to := from + 1
		id := next(s.chats[from])
		for id != nil && to < len(s.chats) && bytes.Equal(id, next(s.chats[to])) {
			to++
		}
		if to == from+1 {
			s.heads, s.tails = append(s.heads, s.chats[from]), append(s.tails, 0)
		} else {
			s.heads, s.tails = append(s.heads, nil), append(s.tails, len(list))
			list = append(list, &stretch{chats: s.chats[from:to:to], depth: s.depth + 1})
		}
		from = to
	}
	return list
}

func nextDate(c *Chat, depth int) int64 {
	if depth < len(c.Messages) {
		return c.Messages[depth].Date
	}
	return 0
}

// CompareDates puts the older first, and a missing date (0) last.
func CompareDates(a, b int64) int {
	return cmp.Or(compareBool(a == 0, b == 0), cmp.Compare(a, b))
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
