package follow

import (
	"slices"
	"sort"

	"stchat/internal/choose"
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/luker"
	"stchat/internal/isolate"
	"stchat/internal/rawjson"
)

// State is what [Look] found in a chat that refers to its messages.
type State struct {
	change *Change

	visible    int        // messages that core counts in a prompt, before
	boundaries []boundary // of timed effects, in order
	hides      int        // visible messages that go or are hidden
	shows      int        // visible messages that come, or that are shown

	recaps []int          // messages with a scene recap, in order
	lines  []choose.Place // messages with indexes or ids to edit
	links  []Link         // of messages that go
	said   []string       // warnings about what goes with messages
	nodes  ids

	variables luker.Variables // replayed as after the change
	operated  bool            // operations on variables come, go or change
}

// boundary is a start or an end of timed effects, and how far it moves.
type boundary struct {
	at    int
	moved int
}

// Lost returns the links of the messages that go.
func (s *State) Lost() []Link { return s.links }

// Warnings returns sentences about what goes with messages, other than links.
func (s *State) Warnings() []string { return s.said }

// Lines returns the messages that [State.Line] may edit, in order.
func (s *State) Lines() []choose.Place { return s.lines }

// Metadata brings chat_metadata in step, and returns what it changed.
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

// Line returns message i, which stays, with the indexes and ids in it brought in step, or
// line itself if nothing changes.
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

// moved returns by how much the boundary at moves, 0 if there is none.
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
