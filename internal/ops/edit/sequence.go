package edit

import (
	"iter"
	"slices"
)

// sequence is a list of messages.
type sequence struct{ list []stretch }

// stretch is one message.
type stretch struct {
	index int    // in the chat; -1: new
	n     int    // 1
	line  []byte // nil: as in the chat
}

// newSequence returns the messages of a chat, which has so many.
func newSequence(messages int) *sequence {
	s := &sequence{make([]stretch, messages)}
	for i := range s.list {
		s.list[i] = stretch{index: i, n: 1}
	}
	return s
}

func (s *sequence) len() int               { return len(s.list) }
func (s *sequence) at(i int) stretch       { return s.list[i] }
func (s *sequence) all() iter.Seq[stretch] { return slices.Values(s.list) }

// put puts another message, if with.n is 1, in the place of n messages from i on.
func (s *sequence) put(i, n int, with stretch) {
	s.list = slices.Delete(s.list, i, i+n)
	if with.n > 0 {
		s.list = slices.Insert(s.list, i, with)
	}
}
