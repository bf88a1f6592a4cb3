//go:build !race

// Under the race detector SQLite takes thirty times as long.

package wordindex_test

import (
	"fmt"
	"slices"
	"testing"

	"stchat/internal/message"
	"stchat/internal/wordindex"
	"stchat/internal/words"
)

// Texts that have a word come with the newest first; of very many those come first that
// were archived last, and none is left out.
func TestFindMany(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	s, add := newStore(t)
	lines := make([]string, wordindex.MostExact+100)
	for i := range lines {
		role := i == 3 || i == len(lines)-3
		early := "" // more in the first texts than there would be if as many had it all along
		if i < 5000 {
			early = " early"
		}
		lines[i] = fmt.Sprintf(`{"mes":"lamp %d`+early+`","is_user":%t,"send_date":"%d-01-01T00:00:00Z"}`, i, role, 2000+i%7)
	}
	lines[4] = `{"mes":"lamp 4"}`
	add("A", lines...)
	x, err := wordindex.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	tests := []struct {
		query  string
		want   wordindex.Want
		byDate bool
		texts  int
		first  []int64
	}{
		{"lamp", wordindex.Want{}, false, len(lines), []int64{50100, 50099, 50098}},
		{"lamp", wordindex.Want{Roles: []message.Who{message.User}}, false, 2, []int64{50098, 4}},
		{"lamp 3 OR 4 OR 5 OR 6", wordindex.Want{}, true, 4, []int64{7, 6, 4, 5}},
		{"early", wordindex.Want{Roles: []message.Who{message.User}}, true, 1, []int64{4}},
		{"early", wordindex.Want{}, true, 4999, nil},
		{"lamp 3 OR 4 OR 5 OR 6", wordindex.Want{Rank: true}, false, 4, nil},
	}
	for _, tt := range tests {
		q, err := words.Parse(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		tt.want.Query = q
		m, err := x.Find(t.Context(), &tt.want)
		if err != nil {
			t.Fatal(err)
		}
		if m.ByDate != tt.byDate {
			t.Errorf("%q: by date: %v", tt.query, m.ByDate)
		}
		var order []int64
		found := 0
		for next, ok := m.Next(); ok; next, ok = m.Next() {
			order = append(order, next.Number)
			n := 1
			if len(order) > 4 {
				n = 1000
			}
			uses, err := m.Take(t.Context(), n)
			if err != nil || !slices.ContainsFunc(uses, func(u wordindex.Use) bool { return u.Number == next.Number }) {
				t.Fatal(uses, err)
			}
			found += len(uses)
		}
		if found != tt.texts || !slices.Equal(order[:len(tt.first)], tt.first) {
			t.Errorf("%q %v: %d texts, the first: %v", tt.query, tt.want.Roles, found, order[:min(len(order), 5)])
		}
		m.Close()
	}
}
