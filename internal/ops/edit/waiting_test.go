package edit

import (
	"testing"

	"stchat/internal/lorebook"
)

func TestWaitingFor(t *testing.T) {
	pending := lorebook.Operation{Type: "recap", Status: "pending", Messages: []int{3, 8}}
	done := lorebook.Operation{Type: "recap", Status: "completed", Messages: []int{9}}
	none := lorebook.Operation{Type: "other", Status: "pending"}
	for _, c := range []struct {
		name  string
		queue []lorebook.Operation
		first int
		want  *lorebook.Operation // by its type and messages
		at    int
	}{
		{"nothing waits", nil, 0, nil, 0},
		{"behind all", []lorebook.Operation{pending}, 9, nil, 0},
		{"the last one", []lorebook.Operation{pending}, 8, &pending, 8},
		{"all", []lorebook.Operation{pending}, 0, &pending, 3},
		{"done already", []lorebook.Operation{done}, 0, nil, 0},
		{"behind one that is done", []lorebook.Operation{none, done, pending}, 4, &pending, 8},
	} {
		got, at := waitingFor(c.queue, c.first)
		isSame := got == nil && c.want == nil || got != nil && c.want != nil && got.Type == c.want.Type && len(got.Messages) == len(c.want.Messages)
		if !isSame || at != c.at {
			t.Errorf("%s: %v at %d; want %v at %d", c.name, got, at, c.want, c.at)
		}
	}
}
