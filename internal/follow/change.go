package follow

import (
	"slices"
	"sort"

	"stchat/internal/rawjson"
)

// Change says what happens to the messages of a chat. All indexes are those before the
// change.
type Change struct {
	Messages int      // how many there are before the change
	Gone     []int    // messages that are removed, in order, each once
	Inserted []Insert // messages that are inserted, in order of At
	Hidden   []int    // messages whose is_system becomes true, in order
	Shown    []int    // messages whose is_system becomes false, in order
	// Operations are the new operations on Luker's variables of the messages that note
	// others than before, by index.
	Operations map[int][]byte
}

// Insert is one message that is inserted.
type Insert struct {
	At      int  // index of the message before which it comes; the number of messages: at the end
	Visible bool // core counts it in a prompt
	// Operations are those on Luker's variables (extra.var_ops).
	Operations []byte
}

// Moves reports whether some message goes or gets another index.
func (c *Change) Moves() bool { return c.FirstMoved() >= 0 }

// FirstMoved returns the first message that goes or gets another index, -1 if there is
// none.
func (c *Change) FirstMoved() int {
	first := -1
	if len(c.Gone) > 0 {
		first = c.Gone[0]
	}
	for _, i := range c.Inserted {
		if i.At < c.Messages && (first < 0 || i.At < first) {
			first = i.At
		}
	}
	return first
}

// Matters reports whether state of the chat may have to follow. It need not if no message
// goes or gets another index, no operations on Luker's variables change, and no timed
// effect depends on the number of visible messages.
func (c *Change) Matters(metadata *rawjson.Object) bool {
	if c.Moves() || len(c.Operations) > 0 || slices.ContainsFunc(c.Inserted, func(i Insert) bool { return i.Operations != nil }) {
		return true
	}
	return len(c.Inserted)+len(c.Hidden)+len(c.Shown) > 0 && len(boundariesOf(metadata)) > 0
}

// Tail reports whether the change only cuts off the end.
func (c *Change) Tail() bool {
	n := len(c.Gone)
	return n > 0 && c.Gone[0] == c.Messages-n && len(c.Inserted)+len(c.Hidden)+len(c.Shown) == 0
}

// Left returns how many messages there are afterwards.
func (c *Change) Left() int { return c.Messages - len(c.Gone) + len(c.Inserted) }

// goes reports whether a message goes.
func (c *Change) goes(i int) bool {
	_, found := slices.BinarySearch(c.Gone, i)
	return found
}

// Map returns the new index of a message that stays.
func (c *Change) Map(i int) int {
	gone := sort.SearchInts(c.Gone, i)
	came := sort.Search(len(c.Inserted), func(k int) bool { return c.Inserted[k].At > i })
	return i - gone + came
}

// up returns the new index of the nearest message at or after i that stays.
func (c *Change) up(i int) (int, bool) {
	i = max(i, 0)
	for k := sort.SearchInts(c.Gone, i); k < len(c.Gone) && c.Gone[k] == i; k++ {
		i++
	}
	return c.Map(i), i < c.Messages
}

// down returns the new index of the nearest message at or before i that stays.
func (c *Change) down(i int) (int, bool) {
	i = min(i, c.Messages-1)
	for k := sort.SearchInts(c.Gone, i+1) - 1; k >= 0 && c.Gone[k] == i; k-- {
		i--
	}
	return c.Map(i), i >= 0
}

// Swipes returns the chosen swipe of each message after a change. before has those of the
// messages before it, inserted those of inserted messages, by their place in Inserted, and
// edited the new ones of edited messages, by their old index.
func (c *Change) Swipes(before, inserted []int, edited map[int]int) []int {
	after := make([]int, 0, c.Left())
	next := 0
	come := func(i int) {
		for ; next < len(c.Inserted) && c.Inserted[next].At <= i; next++ {
			after = append(after, inserted[next])
		}
	}
	gone := 0
	for i, swipe := range before {
		come(i)
		if gone < len(c.Gone) && c.Gone[gone] == i {
			gone++
			continue
		}
		if now, ok := edited[i]; ok {
			swipe = now
		}
		after = append(after, swipe)
	}
	come(len(before))
	return after
}
