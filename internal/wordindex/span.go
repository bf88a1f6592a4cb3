package wordindex

import "slices"

// span is a range of piece numbers.
type span struct{ first, n int64 }

// join sorts spans and joins those that touch.
func join(spans []span) (joined []span) {
	slices.SortFunc(spans, func(a, b span) int { return int(min(1, max(-1, a.first-b.first))) })
	for _, sp := range spans {
		if n := len(joined); n > 0 && sp.first <= joined[n-1].first+joined[n-1].n {
			joined[n-1].n = max(joined[n-1].n, sp.first+sp.n-joined[n-1].first)
			continue
		}
		joined = append(joined, sp)
	}
	return joined
}

// without returns what is in spans and not in known; both are joined.
func without(spans, known []span) (rest []span) {
	for _, sp := range spans {
		for _, k := range known {
			if k.first+k.n <= sp.first || k.first >= sp.first+sp.n {
				continue
			}
			if k.first > sp.first {
				rest = append(rest, span{sp.first, k.first - sp.first})
			}
			end := sp.first + sp.n
			sp.first = min(k.first+k.n, end)
			sp.n = end - sp.first
		}
		if sp.n > 0 {
			rest = append(rest, sp)
		}
	}
	return rest
}
