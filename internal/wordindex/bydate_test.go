package wordindex_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"stchat/internal/message"
	"stchat/internal/wordindex"
	"stchat/internal/words"
)

// Texts come by the newest of their wanted places, whether few or many match, and whether
// these are the newest of all texts or the oldest.
func TestFindByDate(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	rng := rand.New(rand.NewPCG(4, 4))
	const many = 1500 // of 9,000 texts: enough to go through all places
	line := func(text string, year int) string {
		date := time.Date(year, 1, 1+rng.IntN(300), 0, 0, rng.IntN(5), 0, time.UTC).Format(time.RFC3339)
		if rng.IntN(50) == 0 {
			date = ""
		}
		swipes := ""
		if rng.IntN(20) == 0 {
			swipes = fmt.Sprintf(`,"swipe_id":0,"swipes":[%q,"gull %s"]`, text, text)
		}
		return fmt.Sprintf(`{"mes":%q,"is_user":%t,"send_date":%q%s}`, text, rng.IntN(3) == 0, date, swipes)
	}
	s, add := newStore(t)
	var lines []string
	for i := range 5500 {
		lines = append(lines, line(fmt.Sprintf("boat %d", i), 2024))
	}
	for i := range many {
		lines = append(lines, line(fmt.Sprintf("lamp %d", i), 2020), line(fmt.Sprintf("kettle %d", i), 2026))
	}
	add("A", lines...)
	for i := range many { // places of the same texts
		lines[i] = line(fmt.Sprintf("lamp %d", i), 2019+rng.IntN(3))
	}
	add("B", lines[:many]...)
	x, err := wordindex.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, word := range []string{"lamp", "kettle", "kettle -7*", "7"} {
		for _, want := range []wordindex.Want{
			{},
			{Swipes: true},
			{Roles: []message.Who{message.User}},
			{Since: time.Date(2020, 6, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)},
		} {
			t.Run(fmt.Sprintf("%s %v %v %v", word, want.Roles, want.Swipes, want.Since.Year()), func(t *testing.T) { checkOrder(t, x, word, want) })
		}
	}
}

// checkOrder takes the first texts, and then all others, and compares them with their places.
func checkOrder(t *testing.T, x *wordindex.Index, word string, want wordindex.Want) {
	q, err := words.Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	want.Query = q
	newest := func(uses wordindex.Uses) (at int64, dated, found bool) {
		for _, u := range uses {
			date := time.UnixMilli(u.At)
			if !u.Chosen && !want.Swipes || len(want.Roles) > 0 && u.Role != want.Roles[0] || !want.Since.IsZero() && (!u.Dated || date.Before(want.Since) || date.After(want.Until)) {
				continue
			}
			found = true
			if u.Dated && (!dated || u.At > at) {
				at, dated = u.At, true
			}
		}
		return at, dated, found
	}
	m, err := x.Find(t.Context(), &want)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	seen := map[int64]bool{}
	last := wordindex.Candidate{Dated: true, At: 1 << 62}
	for c, ok := m.Next(); ok; c, ok = m.Next() {
		uses, err := m.Take(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		at, dated, found := newest(uses)
		if !found || seen[c.Number] || at != c.At || dated != c.Dated {
			t.Fatalf("%+v has %+v", c, uses)
		}
		if c.Dated && (!last.Dated || c.At > last.At) {
			t.Fatalf("%+v comes after %+v", c, last)
		}
		seen[c.Number], last = true, c
	}
	ranked := want // has all texts, in another order
	ranked.Rank = true
	r, err := x.Find(t.Context(), &ranked)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	uses, err := r.Take(t.Context(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	places := map[int64]wordindex.Uses{}
	for _, u := range uses {
		places[u.Number] = append(places[u.Number], u)
	}
	all := 0
	for number, uses := range places {
		if _, _, found := newest(uses); found {
			if all++; !seen[number] {
				t.Fatalf("the text %d was not found", number)
			}
		}
	}
	if all != len(seen) || all == 0 {
		t.Errorf("%d texts, want %d", len(seen), all)
	}
}
