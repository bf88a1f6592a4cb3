package edit

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A sequence is what a list is, and stays as flat as chance makes it.
func TestSequence(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 3000
	s := newSequence(n)
	list := make([]int, n) // indexes in the chat; -1: a new one
	for i := range list {
		list[i] = i
	}
	for step := range 30_000 {
		i := r.IntN(len(list) + 1)
		if step < 10_000 {
			i = min(step/10, len(list)) // one place after the other
		}
		if i == len(list) || r.IntN(2) == 0 {
			list = slices.Insert(list, i, -1)
			s.put(i, 0, stretch{index: -1, n: 1, line: []byte("x")})
			continue
		}
		if at := s.at(i); at.index != list[i] || at.n != 1 || (at.line == nil) != (at.index >= 0) {
			t.Fatalf("message %d is %+v, want %d", i, at, list[i])
		}
		list = slices.Delete(list, i, i+1)
		s.put(i, 1, stretch{})
	}
	var got []int
	for part := range s.all() {
		for k := range part.n {
			if part.line == nil {
				got = append(got, part.index+k)
			} else {
				got = append(got, part.index)
			}
		}
	}
	if s.len() != len(list) || !slices.Equal(got, list) {
		t.Errorf("%d messages, want %d, or others", s.len(), len(list))
	}
	if empty := newSequence(0); empty.len() != 0 {
		t.Errorf("no messages are %d", empty.len())
	}
}
