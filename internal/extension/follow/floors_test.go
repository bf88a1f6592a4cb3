package follow

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stchat/internal/extension/luker"
)

// What a floor log comes to stays what it was, whatever messages come and go: random logs,
// deletions and insertions against a replay that knows the messages by name.
func TestFloorsRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 14))
	moved, dropped := 0, 0
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	for n := range rounds {
		before := make([]int, 1+random.IntN(8))
		for i := range before {
			before[i] = random.IntN(3)
		}
		var log []string
		floor := 0
		for id := range random.IntN(10) {
			floor += random.IntN(3)
			log = append(log, fmt.Sprintf(`{"floor":%d,"swipeId":%d,"patches":[{"op":"add","path":"/%d","value":%d}]}`, floor, random.IntN(3), id%4, id))
		}
		raw := []byte(`{"version":1,"commits":[` + strings.Join(log, ",") + `]}`)
		change := &Change{Messages: len(before)}
		if n%3 != 0 {
			for i := range before {
				if random.IntN(3) == 0 && len(change.Gone) < len(before)-1 {
					change.Gone = append(change.Gone, i)
				}
			}
		}
		var inserted []int
		if n%3 != 1 {
			for range random.IntN(3) {
				change.Inserted = append(change.Inserted, Insert{At: random.IntN(len(before) + 1)})
				inserted = append(inserted, random.IntN(3))
			}
			slices.SortFunc(change.Inserted, func(a, b Insert) int { return a.At - b.At })
		}
		f := &Floors{Change: change, Before: before, After: change.Swipes(before, inserted, nil)}
		if len(f.After) != change.Left() {
			t.Fatalf("%+v: %d swipes", change, len(f.After))
		}
		// The model: of the tail that goes nothing is left, of all else everything that counted.
		last := len(before) - 1
		for last >= 0 && change.Goes(last) {
			last--
		}
		want := replay(t, raw, luker.Active(before[:last+1], -1))
		var out bytes.Buffer
		did, err := luker.Rewrite(&out, bytes.NewReader(raw), f.Where)
		if err != nil {
			t.Fatal(err)
		}
		moved, dropped = moved+did.Moved, dropped+did.Dropped
		if got := replay(t, out.Bytes(), luker.Active(f.After, -1)); got != want {
			t.Fatalf("%s\nswipes %v\n%+v\nwant %s\n got %s from %s", raw, before, change, want, got, out.Bytes())
		}
		falls := -1
		_ = luker.EachCommit(bytes.NewReader(out.Bytes()), func(c *luker.Commit) error {
			if c.Floor < falls {
				t.Fatalf("%s\n%+v: floors fall: %s", raw, change, out.Bytes())
			}
			falls = c.Floor
			return nil
		})
	}
	if moved < rounds/2 || dropped < rounds/2 {
		t.Errorf("%d moved, %d dropped: the test tests too little", moved, dropped)
	}
}

func replay(t *testing.T, log []byte, active func(*luker.Commit) bool) string {
	t.Helper()
	state, err := luker.ReplayLog(bytes.NewReader(log), active)
	if err != nil {
		t.Fatal(err)
	}
	return string(state)
}

// Swipes that are deleted one after the other, as Luker renumbers after each.
func TestFloorsSwipes(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 9))
	for range 2000 {
		gone := []int{random.IntN(3), random.IntN(2)}
		f := &Floors{Change: &Change{Messages: 2}, Before: []int{0, 1}, After: []int{0, 0}, Gone: map[int][]int{1: gone}}
		c := luker.ReadCommit(fmt.Appendf(nil, `{"floor":%d,"swipeId":%d,"patches":[1]}`, random.IntN(3), random.IntN(4)))
		floor, swipe, keep := c.Floor, c.Swipe, true
		for _, k := range gone {
			switch { // removeSwipeFromCommits of floor-state/core.js
			case !keep || floor != 1 || swipe < k:
			case swipe == k:
				keep = false
			default:
				swipe--
			}
		}
		if at, now, still := f.Where(c); still != keep || keep && (at != floor || now != swipe) {
			t.Fatalf("%s, %v: %d, %d, %v; want %d, %d, %v", c.Raw, gone, at, now, still, floor, swipe, keep)
		}
	}
}
