package extension

import (
	"slices"
	"sort"
	"strconv"

	"stchat/internal/jsonl/rawjson"
)

// Shift says what happens to the messages of a chat. All indexes are those before it.
type Shift struct {
	Messages int      // how many there are before
	Gone     []int    // messages that are removed, in order, each once
	Inserted []Insert // messages that are inserted, in order of At
	Hidden   []int    // messages whose is_system becomes true, in order
	Shown    []int    // messages whose is_system becomes false, in order
	// Edited are the new extras of messages of which extensions note something else than
	// before, by index.
	Edited map[int][]byte
}

// Insert is one message that is inserted.
type Insert struct {
	At      int    // index of the message before which it comes; the number of messages: at the end
	Visible bool   // core counts it in a prompt
	Extra   []byte // raw
}

// Moves reports whether some message goes or gets another index.
func (s *Shift) Moves() bool { return s.FirstMoved() >= 0 }

// FirstMoved returns the first message that goes or gets another index, -1 if there is
// none.
func (s *Shift) FirstMoved() int {
	first := -1
	if len(s.Gone) > 0 {
		first = s.Gone[0]
	}
	for _, i := range s.Inserted {
		if i.At < s.Messages && (first < 0 || i.At < first) {
			first = i.At
		}
	}
	return first
}

// Tail reports whether the end is cut off, and nothing else.
func (s *Shift) Tail() bool {
	n := len(s.Gone)
	return n > 0 && s.Gone[0] == s.Messages-n && len(s.Inserted)+len(s.Hidden)+len(s.Shown) == 0
}

// Left returns how many messages there are afterwards.
func (s *Shift) Left() int { return s.Messages - len(s.Gone) + len(s.Inserted) }

// Goes reports whether a message goes.
func (s *Shift) Goes(i int) bool {
	_, found := slices.BinarySearch(s.Gone, i)
	return found
}

// Map returns the new index of a message that stays.
func (s *Shift) Map(i int) int {
	gone := sort.SearchInts(s.Gone, i)
	came := sort.Search(len(s.Inserted), func(k int) bool { return s.Inserted[k].At > i })
	return i - gone + came
}

// Staying is [Shift.Map]; it reports whether the message stays.
func (s *Shift) Staying(i int) (int, bool) { return s.Map(i), !s.Goes(i) }

// Up returns the new index of the nearest message at or after i that stays.
func (s *Shift) Up(i int) (int, bool) {
	i = max(i, 0)
	for k := sort.SearchInts(s.Gone, i); k < len(s.Gone) && s.Gone[k] == i; k++ {
		i++
	}
	return s.Map(i), i < s.Messages
}

// Down returns the new index of the nearest message at or before i that stays.
func (s *Shift) Down(i int) (int, bool) {
	i = min(i, s.Messages-1)
	for k := sort.SearchInts(s.Gone, i+1) - 1; k >= 0 && s.Gone[k] == i; k-- {
		i--
	}
	return s.Map(i), i >= 0
}

// Swipes returns the chosen swipe of each message afterwards. before has those of the messages
// before, inserted those of inserted messages, by their place in Inserted, and edited the new
// ones of edited messages, by their old index.
func (s *Shift) Swipes(before, inserted []int, edited map[int]int) []int {
	after := make([]int, s.Left())
	for i, swipe := range before {
		if now, ok := edited[i]; ok {
			swipe = now
		}
		if to, stays := s.Staying(i); stays {
			after[to] = swipe
		}
	}

	for k, swipe := range inserted {
		at := s.Inserted[k].At
		after[at-sort.SearchInts(s.Gone, at)+k] = swipe
	}
	return after
}

// MoveIndex moves the message index under a key; what is not an index stays.
func MoveIndex(o *rawjson.Object, key string, move func(index int) int) {
	if at, ok := rawjson.Int(o.Value(key)); ok && at >= 0 {
		if to := move(at); to != at {
			o.Set(key, strconv.AppendInt(nil, int64(to), 10))
		}
	}
}

// Following is a shift of a chat's messages, and the metadata that follows it.
type Following struct {
	Report
	*Shift
	Metadata *rawjson.Object
	Visible  int // messages that core counts in a prompt, before
	Hides    int // visible messages that go or are hidden
	Shows    int // visible messages that come, or that are shown

	boundaries []boundary // in order
	passed     int        // how many of them are settled
}

// boundary is a number of visible messages that state refers to, and how far it moves.
type boundary struct{ at, moved int }

// Mark notes numbers of visible messages, of which [Following.Moved] is asked. It is called by
// Begin.
func (f *Following) Mark(at ...int) {
	for _, n := range at {
		f.boundaries = append(f.boundaries, boundary{at: n})
	}
	slices.SortFunc(f.boundaries, func(a, b boundary) int { return a.at - b.at })
	f.boundaries = slices.Compact(f.boundaries)
}

// Marked reports whether a number of visible messages is noted.
func (f *Following) Marked() bool { return len(f.boundaries) > 0 }

// Moved returns by how much a marked number of visible messages moves.
func (f *Following) Moved(at int) int {
	i := sort.Search(len(f.boundaries), func(k int) bool { return f.boundaries[k].at >= at })
	if i < len(f.boundaries) && f.boundaries[i].at == at {
		return f.boundaries[i].moved
	}
	return 0
}

// Pass settles the marks at or before the number of visible messages seen so far: later shifts
// do not move them. With all it settles the rest, too.
func (f *Following) Pass(all bool) {
	for ; f.passed < len(f.boundaries) && (all || f.boundaries[f.passed].at <= f.Visible); f.passed++ {
		f.boundaries[f.passed].moved = f.Shows - f.Hides
	}
}
