package follow

import "stchat/internal/luker"

// Floors says where the commits of Luker's floor logs belong after a change, so that what
// is replayed stays what it was (FORMATS.md A2.4, CONTENT.md 3).
type Floors struct {
	Change *Change
	Before []int         // the chosen swipe of each message
	After  []int         // the same afterwards, by new index
	Gone   map[int][]int // swipes that are deleted of a message, one after the other, from 0
}

// Where returns what becomes of a commit. Commits of the tail that goes, and of swipes
// that go, go too, as in Luker (truncateCommits, removeSwipeFromCommits). Those of a
// message that goes from the middle, which Luker would leave to another message, move to
// the one before where they counted, and else go.
func (f *Floors) Where(c *luker.Commit) (floor, swipe int, keep bool) {
	if !c.Valid {
		return c.Floor, c.Swipe, true
	}
	if c.Floor >= f.Change.Messages { // of no message, and so it stays
		return c.Floor + f.Change.Left() - f.Change.Messages, c.Swipe, len(f.Change.Gone) == 0
	}
	swipe = c.Swipe
	for _, gone := range f.Gone[c.Floor] {
		switch {
		case swipe == gone:
			return 0, 0, false
		case swipe > gone:
			swipe--
		}
	}
	if !f.Change.goes(c.Floor) {
		return f.Change.Map(c.Floor), swipe, true
	}
	if _, follows := f.Change.up(c.Floor); !follows || c.Swipe != f.Before[c.Floor] {
		return 0, 0, false
	}
	to, ok := f.Change.down(c.Floor)
	if !ok {
		to = 0
	}
	return to, f.After[to], true
}
