package follow

import "stchat/internal/extension/luker"

// Floors finds where the commits of Luker's floor logs belong after a change, so that a
// replay yields the same state as before.
type Floors struct {
	Change *Change
	Before []int         // the chosen swipe of each message
	After  []int         // the same afterwards, by new index
	Gone   map[int][]int // by message: swipes deleted one after another, from 0
}

// Where returns what becomes of a commit; it is a luker.Where. Commits of a removed tail
// and of removed swipes go, as in Luker (truncateCommits, removeSwipeFromCommits). Luker
// would leave the commits of a message removed from the middle to another message; here
// they move to the message before it if they counted, and go if not.
func (f *Floors) Where(c *luker.Commit) (floor, swipe int, keep bool) {
	if !c.Valid {
		return c.Floor, c.Swipe, true
	}
	if c.Floor >= f.Change.Messages { // beyond the last message
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
	if !f.Change.Goes(c.Floor) {
		return f.Change.Map(c.Floor), swipe, true
	}
	if _, follows := f.Change.Up(c.Floor); !follows || c.Swipe != f.Before[c.Floor] {
		return 0, 0, false
	}
	to, ok := f.Change.Down(c.Floor)
	if !ok {
		to = 0
	}
	return to, f.After[to], true
}
