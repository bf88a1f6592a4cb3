package treeview

import (
	"cmp"
	"slices"
)

// lane is a chat as it is drawn along its messages: across by their index, one chat
// below the other.
type lane struct {
	chat  *Chat
	above int // the lane on which the fork's message is drawn; -1: none
	shift int // what is added to an index to bring it under the parent's
	fork  int // where the fork's message is drawn
	from  int // where the first own message is drawn
	to    int // where the last message is drawn
}

// lanes lays the chats out. A chat stands below the lane of its fork's message and
// above those that part earlier, so that no line to a chat crosses another chat, nor
// its text.
func lanes(t *Tree) (list []lane) {
	for _, o := range t.Owners {
		for from := 0; from < len(o.Chats); {
			to := from + 1
			for to < len(o.Chats) && o.Chats[to].Above != nil {
				to++
			}
			list = layFamily(list, o.Chats[from:to])
			from = to
		}
	}
	return list
}

// layFamily lays out one family below the lanes that there are.
func layFamily(list []lane, chats []*Chat) []lane {
	family := make([]lane, len(chats))
	at := map[*Chat]int{}
	below := make([][]int, len(chats))
	for i, c := range chats {
		at[c] = i
		family[i] = placed(family, at, c)
		if p := family[i].above; p >= 0 {
			below[p] = append(below[p], i)
		}
	}

	place := make([]int, len(chats)) // in list
	stack := []int{0}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]

		l := family[i]
		if l.above >= 0 {
			l.above = place[l.above]
		}
		place[i] = len(list)
		list = append(list, l)

		slices.SortStableFunc(below[i], func(a, b int) int { return cmp.Compare(family[a].fork, family[b].fork) })
		stack = append(stack, below[i]...) // the last fork comes off first
	}
	return list
}

// placed finds where a chat's lane begins and ends. Its parent is placed already.
func placed(family []lane, at map[*Chat]int, c *Chat) lane {
	l := lane{chat: c, above: -1, fork: -1, to: max(c.Messages-1, 0)}
	if c.Above == nil {
		return l
	}
	p := at[c.Above]
	l.above = p
	if *c.At < 0 {
		return l
	}

	l.shift = family[p].shift + *c.AtParent - *c.At
	l.fork = l.shift + *c.At
	l.from = l.fork + 1
	l.to = max(l.shift+c.Messages-1, l.fork)

	// the parent may have the fork's message from its own parent
	for family[l.above].above >= 0 && l.fork < family[l.above].from {
		l.above = family[l.above].above
	}
	return l
}
