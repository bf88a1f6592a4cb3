package family

import (
	"bytes"
	"cmp"
	"slices"

	"stchat/internal/message"
)

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
	var seen map[message.ID]int // of those that the parent has more than once
	var tails []int32           // the least index in the parent at which a run of that length ends
	lastOf := 0                 // the index in the chat at which the longest run ends
	for i := n; i < len(chat); i++ {
		id := chat[i].ID
		first, count := t.find(id, n)
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
		at := t.sorted[first+k]
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
