//go:build !race

// Under the race detector SQLite takes thirty times as long.

package wordindex_test

import (
	"fmt"
	"testing"

	"stchat/internal/wordindex"
)

// Of a word that very many texts have, the index names those that were archived last.
func TestFindMany(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	s, add := newStore(t)
	const more = 7
	lines := make([]string, wordindex.MostExact+more)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"mes":"lamp %d"}`, i)
	}
	add("A", lines...)
	f := find(t, s, "lamp", false)
	if f.All || len(f.Uses) != wordindex.MostExact {
		t.Fatalf("all: %v, %d uses", f.All, len(f.Uses))
	}
	for _, u := range f.Uses {
		if u.Number <= more {
			t.Fatalf("text %d is among the last", u.Number)
		}
	}
	if f := find(t, s, "lamp", true); len(f.Scores) != len(lines) || len(f.Uses) != len(lines) {
		t.Errorf("%d scores, %d uses", len(f.Scores), len(f.Uses))
	}
	if f := find(t, s, "lamp 3", false); !f.All || len(f.Uses) != 1 {
		t.Errorf("all: %v, %d uses", f.All, len(f.Uses))
	}
}
