// Package align finds which messages of two lists belong together, and which words of two texts.
// It is the one aligner of diff, log, lost, merge and kinship.
package align

import (
	"math/bits"
	"slices"
)

// Pair is an index in each of two lists.
type Pair struct{ A, B int }

// Equal pairs equal elements in the order of both lists: those at the beginning and the end, and
// between these as many as possible of those that occur once in each.
func Equal[T comparable](a, b []T) []Pair {
	return Around(len(a), len(b), func(i, j int) bool { return a[i] == b[j] }, func(head, tail int) []Pair {
		return unique(a[head:len(a)-tail], b[head:len(b)-tail])
	})
}

// Around pairs the elements that two lists of n and m have in common at the beginning and the end,
// and between these those that middle pairs, which counts from the head.
func Around(n, m int, same func(i, j int) bool, middle func(head, tail int) []Pair) (pairs []Pair) {
	head, tail := Ends(n, m, same)
	for i := range head {
		pairs = append(pairs, Pair{i, i})
	}
	for _, p := range middle(head, tail) {
		pairs = append(pairs, Pair{p.A + head, p.B + head})
	}
	for k := tail; k > 0; k-- {
		pairs = append(pairs, Pair{n - k, m - k})
	}
	return pairs
}

// Swap exchanges the two lists of pairs.
func Swap(pairs []Pair) []Pair {
	for i, p := range pairs {
		pairs[i] = Pair{p.B, p.A}
	}
	return pairs
}

// Ends returns how many elements two lists of n and m elements have in common at the beginning,
// and then at the end.
func Ends(n, m int, same func(i, j int) bool) (head, tail int) {
	for head < min(n, m) && same(head, head) {
		head++
	}
	for tail < min(n, m)-head && same(n-1-tail, m-1-tail) {
		tail++
	}
	return head, tail
}

// unique pairs the elements that occur once in each list: as many as rise in both.
func unique[T comparable](a, b []T) []Pair {
	const twice = -1
	at := make(map[T]int, len(a))
	for i, key := range a {
		if _, ok := at[key]; ok {
			i = twice
		}
		at[key] = i
	}

	count := make(map[T]int, len(b))
	for _, key := range b {
		count[key]++
	}

	var pairs []Pair
	for j, key := range b {
		if i, ok := at[key]; ok && i != twice && count[key] == 1 {
			pairs = append(pairs, Pair{i, j})
		}
	}
	return Rising(pairs)
}

// Rising returns the longest list of pairs, which rise in B, that rise in A too.
func Rising(pairs []Pair) []Pair {
	var ends []int // the last pair of the best list of each length
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p.A, func(end, a int) int { return pairs[end].A - a })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}

		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}

	if len(ends) == 0 {
		return nil
	}

	list := make([]Pair, len(ends))
	i := ends[len(ends)-1]
	for k := range slices.Backward(list) {
		list[k] = pairs[i]
		i = before[i]
	}
	return list
}

// cells is how many comparisons a gap may take: two lists of 2,000. In longer ones only keys that
// occur once are compared.
const cells = 4 << 20

// common returns a longest common sequence of two lists of n and m elements, the earliest of A
// first.
func common(n, m int, same func(i, j int) bool) []Pair {
	if n == 0 || m == 0 {
		return nil
	}

	words := (m + 63) / 64
	match := make([]uint64, n*words)     // a bit for each i and j that are the same
	length := make([]int32, (n+1)*(m+1)) // of what is left from i and j on
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			down, right := length[(i+1)*(m+1)+j], length[i*(m+1)+j+1]
			best := max(down, right)
			if same(i, j) {
				match[i*words+j/64] |= bits.RotateLeft64(1, j)
				best = max(best, length[(i+1)*(m+1)+j+1]+1)
			}
			length[i*(m+1)+j] = best
		}
	}

	var pairs []Pair
	for i, j := 0, 0; i < n && j < m; {
		here := length[i*(m+1)+j]
		matches := match[i*words+j/64]&bits.RotateLeft64(1, j) != 0
		switch {
		case matches && length[(i+1)*(m+1)+j+1]+1 == here:
			pairs = append(pairs, Pair{i, j})
			i++
			j++
		case length[(i+1)*(m+1)+j] == here:
			i++
		default:
			j++
		}
	}
	return pairs
}
