package family

import (
	"bytes"
	"cmp"
	"slices"

	"stchat/internal/message"
)

// PointOf returns where a chat with these messages parts from a parent.
func PointOf(chat, parent []Message) Point {
	s := sequence{messages: parent}
	return s.point(chat)
}

// sequence is the messages of a parent, prepared for its children.
type sequence struct {
	messages []Message
	sorted   []int32 // their indexes, by ID and then by index
}

// point finds the longest run of messages that chat and parent have in one order.
func (s *sequence) point(chat []Message) Point {
	p := s.messages
	n := 0
	for n < len(chat) && n < len(p) && chat[n].ID == p[n].ID {
		n++
	}
	point := Point{At: n - 1, AtParent: n - 1, Shared: n}
	if n == len(chat) || n == len(p) {
		return point
	}
	var seen map[message.ID]int // of those that the parent has more than once
	var tails []int32           // the least index in the parent at which a run of that length ends
	lastOf := 0                 // the index in the chat at which the longest run ends
	for i := n; i < len(chat); i++ {
		id := chat[i].ID
		first, count := s.find(id, n)
		if count == 0 {
			continue
		}
		k := 0
		if count > 1 {
			// equal messages are paired in their order
			if seen == nil {
				seen = map[message.ID]int{}
			}
			k = seen[id]
			seen[id]++
			if k >= count {
				continue
			}
		}
		at := s.sorted[first+k]
		place, _ := slices.BinarySearch(tails, at)
		if place == len(tails) {
			tails = append(tails, at)
		} else {
			tails[place] = at
		}
		if place == len(tails)-1 {
			lastOf = i
		}
	}
	if len(tails) > 0 {
		point.At, point.AtParent = lastOf, int(tails[len(tails)-1])
		point.Shared += len(tails)
	}
	return point
}

// find returns where in sorted the messages with an ID stand whose index is from or
// more, and how many they are.
func (s *sequence) find(id message.ID, from int) (first, count int) {
	if s.sorted == nil {
		s.sorted = make([]int32, len(s.messages))
		for i := range s.sorted {
			s.sorted[i] = int32(i)
		}
		slices.SortFunc(s.sorted, func(a, b int32) int {
			return cmp.Or(bytes.Compare(s.messages[a].ID[:], s.messages[b].ID[:]), cmp.Compare(a, b))
		})
	}
	first, _ = slices.BinarySearchFunc(s.sorted, from, func(i int32, from int) int {
		return cmp.Or(bytes.Compare(s.messages[i].ID[:], id[:]), cmp.Compare(int(i), from))
	})
	for first+count < len(s.sorted) && s.messages[s.sorted[first+count]].ID == id {
		count++
	}
	return first, count
}
