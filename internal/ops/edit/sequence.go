package edit

import (
	"iter"
	"math/rand/v2"
)

// sequence is a list of messages, in which one can come or go at any place without the others
// being moved: a treap, whose nodes are stretches of messages.
type sequence struct{ root *node }

// stretch is messages that stand one after the other in the chat, or one message with another
// line.
type stretch struct {
	index int    // of the first, in the chat; -1: new
	n     int    // how many
	line  []byte // of the only one; nil: as in the chat
}

// node is a stretch between those to the left and those to the right of it, all with lower
// priorities.
type node struct {
	stretch
	left, right *node
	size        int // messages in it and below
	priority    uint64
}

// newSequence returns the messages of a chat, which has so many.
func newSequence(messages int) *sequence {
	if messages == 0 {
		return &sequence{}
	}
	return &sequence{leaf(stretch{n: messages})}
}

func leaf(s stretch) *node { return &node{stretch: s, size: s.n, priority: rand.Uint64()} }

// len returns how many messages there are.
func (s *sequence) len() int { return s.root.len() }

func (t *node) len() int {
	if t == nil {
		return 0
	}
	return t.size
}

// at returns message i, as a stretch of one.
func (s *sequence) at(i int) stretch {
	for t := s.root; ; {
		left := t.left.len()
		switch {
		case i < left:
			t = t.left
		case i >= left+t.n:
			t, i = t.right, i-left-t.n
		case t.line != nil:
			return t.stretch
		default:
			return stretch{index: t.index + i - left, n: 1}
		}
	}
}

// put puts other messages in the place of n messages from i on; with none they are removed.
func (s *sequence) put(i, n int, with stretch) {
	before, rest := s.root.split(i)
	_, after := rest.split(n)
	if with.n > 0 {
		before = before.join(leaf(with))
	}
	s.root = before.join(after)
}

// all yields all messages in order.
func (s *sequence) all() iter.Seq[stretch] {
	return func(yield func(stretch) bool) { s.root.each(yield) }
}

func (t *node) each(yield func(stretch) bool) bool {
	return t == nil || t.left.each(yield) && yield(t.stretch) && t.right.each(yield)
}

// split cuts a tree in two, of which the first has n messages.
func (t *node) split(n int) (first, second *node) {
	if t == nil {
		return nil, nil
	}
	switch left := t.left.len(); {
	case n <= left:
		first, t.left = t.left.split(n)
		second = t
	case n >= left+t.n:
		t.right, second = t.right.split(n - left - t.n)
		first = t
	default: // a priority of its own: else one stretch cut often would make a tree as deep as a list
		cut := n - left
		second = leaf(stretch{index: t.index + cut, n: t.n - cut}).join(t.right)
		first, t.n, t.right = t, cut, nil
	}
	t.count()
	return first, second
}

// join makes one tree of two.
func (t *node) join(next *node) *node {
	switch {
	case t == nil:
		return next
	case next == nil:
		return t
	case t.priority >= next.priority:
		t.right = t.right.join(next)
		t.count()
		return t
	}
	next.left = t.join(next.left)
	next.count()
	return next
}

func (t *node) count() { t.size = t.left.len() + t.n + t.right.len() }
