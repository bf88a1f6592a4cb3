package history

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Without and Common are what they are for sets.
func TestRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	some := func() (runs []Run) {
		for range rng.IntN(8) {
			runs = append(runs, Run{First: 1 + rng.Int64N(60), Count: 1 + rng.Int64N(12)})
		}
		return runs
	}
	pieces := func(runs []Run) (list []int64) {
		for _, r := range runs {
			for id := r.First; id < r.First+r.Count; id++ {
				list = append(list, id)
			}
		}
		return list
	}
	for range 3000 {
		a, b := some(), some()
		rest := map[int64]bool{}
		for _, id := range pieces(a) {
			if !slices.Contains(pieces(b), id) {
				rest[id] = true
			}
		}
		got := pieces(Without(a, b))
		for _, id := range got {
			if !rest[id] {
				t.Fatalf("%v without %v: %v", a, b, got)
			}
		}
		if len(got) != len(rest) || !slices.IsSorted(got) {
			t.Fatalf("%v without %v: %v", a, b, got)
		}
	}
}
