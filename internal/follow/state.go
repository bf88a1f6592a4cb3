package follow

import (
	"slices"
	"sort"

	"stchat/internal/autorecap"
	"stchat/internal/isolate"
	"stchat/internal/luker"
	"stchat/internal/rawjson"
)

// State is what a look at a chat found of all that refers to its messages.
type State struct {
	change *Change

	visible    int        // messages that core counts in a prompt, before
	boundaries []boundary // of timed effects, in order
	hides      int        // visible ones that go or are hidden
	shows      int        // that come or are shown

	recaps []int    // messages with a scene recap, in order
	lines  []Line   // that hold indexes or ids
	links  []Link   // of messages that go
	said   []string // what goes with a message, for a warning
	nodes  ids

	variables luker.Variables // what operations on them come to
	operated  bool            // some come, go or are others
}

// boundary is a start or an end of timed effects, and what happens before it.
type boundary struct {
	at    int
	moved int // it moves by so much
}

// Lost returns the links of the messages that go.
func (s *State) Lost() []Link { return s.links }

// Warnings returns what goes with messages and is no link.
func (s *State) Warnings() []string { return s.said }

// Lines returns the messages that [State.Line] edits, in their order.
func (s *State) Lines() []Line { return s.lines }

// Metadata brings chat_metadata in step, and says what changed.
func (s *State) Metadata(metadata *rawjson.Object) []isolate.Change {
	in := &stepping{state: s, change: s.change, metadata: metadata}
	in.lastInContext()
	in.timed()
	in.recap()
	in.illustrator()
	in.memoryBook()
	if s.operated {
		in.changes = append(in.changes, isolate.Variables(metadata, &s.variables)...)
	}
	return in.changes
}

// Line returns message i, which stays, with the indexes and ids in it brought in step; it
// returns line itself where there are none.
func (s *State) Line(i int, line []byte) []byte {
	c := s.change
	here := c.Map(i)
	line = autorecap.MoveMarks(line, func(at int) int {
		to, ok := c.up(at)
		if !ok {
			to = here
		}
		return min(to, here)
	}, func(at int) int {
		to, ok := c.down(at)
		if !ok {
			return 0
		}
		return to
	})
	return s.nodes.renamed.Line(line)
}

// moved returns how much the boundary at moves.
func (s *State) moved(at int) int {
	i := sort.Search(len(s.boundaries), func(k int) bool { return s.boundaries[k].at >= at })
	if i < len(s.boundaries) && s.boundaries[i].at == at {
		return s.boundaries[i].moved
	}
	return 0
}

// hasRecap reports whether a message has a scene recap.
func (s *State) hasRecap(i int) bool {
	_, found := slices.BinarySearch(s.recaps, i)
	return found
}
