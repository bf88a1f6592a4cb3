package family

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"stchat/internal/folder/align"
	"stchat/internal/folder/library"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/progress"
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
	for i := 1; i < len(list); i++ {
		s := list[i]
		s.extend()
		list = s.split(list)
	}

	// a stretch stands behind the one that it is part of; those of the first share nothing
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

		if alone := to == from+1; alone {
			s.heads = append(s.heads, s.chats[from])
			s.tails = append(s.tails, 0)
		} else {
			s.heads = append(s.heads, nil)
			s.tails = append(s.tails, len(list))
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

// PointOf returns where a chat with these messages parts from a parent.
func PointOf(chat, parent []Message) Point { return NewTrunk(parent).Point(chat) }

// Trunk is the messages of a parent, prepared for its children. It is for one goroutine.
type Trunk struct {
	messages []Message
	sorted   []int32 // their indexes, by ID and then by index
}

// NewTrunk returns the trunk of a parent with these messages.
func NewTrunk(parent []Message) *Trunk { return &Trunk{messages: parent} }

// Point returns where a chat with these messages parts from the parent. It finds the longest
// sequence of messages that both have in the same order.
func (t *Trunk) Point(chat []Message) Point {
	p := t.messages
	n := 0
	for n < len(chat) && n < len(p) && chat[n].ID == p[n].ID {
		n++
	}
	point := Point{At: n - 1, AtParent: n - 1, Shared: n}
	if n == len(chat) || n == len(p) {
		return point
	}

	seen := map[message.ID]int{} // how many of those that the parent has more than once
	var both []align.Pair        // A of the parent, B of the chat
	for i := n; i < len(chat); i++ {
		id := chat[i].ID
		first, count := t.find(id, n)
		k := 0
		if count > 1 { // equal messages are paired in their order
			k = seen[id]
			seen[id]++
		}
		if k < count {
			both = append(both, align.Pair{A: int(t.sorted[first+k]), B: i})
		}
	}

	if run := align.Rising(both); len(run) > 0 {
		last := run[len(run)-1]
		point.At = last.B
		point.AtParent = last.A
		point.Shared = n + len(run)
	}
	return point
}

// find returns where in sorted the messages with an ID stand whose index is from or
// more, and how many they are.
func (t *Trunk) find(id message.ID, from int) (first, count int) {
	if t.sorted == nil {
		t.sorted = make([]int32, len(t.messages))
		for i := range t.sorted {
			t.sorted[i] = int32(i)
		}
		slices.SortFunc(t.sorted, func(a, b int32) int {
			return cmp.Or(bytes.Compare(t.messages[a].ID[:], t.messages[b].ID[:]), cmp.Compare(a, b))
		})
	}

	first, _ = slices.BinarySearchFunc(t.sorted, from, func(i int32, from int) int {
		return cmp.Or(bytes.Compare(t.messages[i].ID[:], id[:]), cmp.Compare(int(i), from))
	})
	for first+count < len(t.sorted) && t.messages[t.sorted[first+count]].ID == id {
		count++
	}
	return first, count
}

// Forks returns where chats part from a parent, as the files at the paths are now; nil
// for one that cannot be read, and for all if the parent cannot. Besides the parent's
// messages, each reader holds those of one chat at a time. The error is that ctx ended.
func Forks(ctx context.Context, lib *library.Library, parent string, chats []string) ([]*Point, error) {
	newReader := readers(lib, nil)
	from := &Chat{Path: parent, Name: userdir.ChatName(parent)}
	newReader().fill(ctx, from, false)
	points := make([]*Point, len(chats))
	if from.Err != nil {
		return points, ctx.Err()
	}

	var one sync.Mutex
	trunk := NewTrunk(from.Messages)
	progress.SmallFirst(ctx, len(chats), nil, newReader, func(r *reader, i int, small bool) bool {
		c := &Chat{Path: chats[i], Name: userdir.ChatName(chats[i])}
		if !r.fill(ctx, c, small) {
			return false
		}
		if c.Err == nil {
			one.Lock()
			defer one.Unlock()
			points[i] = new(trunk.Point(c.Messages))
		}
		return true
	})
	return points, ctx.Err()
}
