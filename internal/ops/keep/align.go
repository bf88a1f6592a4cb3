package keep

import "slices"

// align pairs equal lines in the order of both lists: those at the beginning and the end,
// and between these as many as possible of the lines that occur once in each.
func align(a, b []lineRef) (pairs [][2]int) {
	head := 0
	for head < min(len(a), len(b)) && a[head].id == b[head].id {
		pairs = append(pairs, [2]int{head, head})
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail].id == b[len(b)-1-tail].id {
		tail++
	}
	pairs = append(pairs, inOrder(a, b, head, len(a)-tail, len(b)-tail)...)
	for k := tail; k > 0; k-- {
		pairs = append(pairs, [2]int{len(a) - k, len(b) - k})
	}
	return pairs
}

// inOrder pairs the unique lines of a[from:aEnd] and b[from:bEnd]: the longest list of
// pairs that rises in both.
func inOrder(a, b []lineRef, from, aEnd, bEnd int) [][2]int {
	const twice = -1
	at := map[uint64]int{}
	for i := from; i < aEnd; i++ {
		if _, ok := at[a[i].id]; ok {
			at[a[i].id] = twice
		} else {
			at[a[i].id] = i
		}
	}
	count := map[uint64]int{}
	for j := from; j < bEnd; j++ {
		count[b[j].id]++
	}
	type node struct {
		pair   [2]int
		before *node
	}
	var ends []*node // the best last pair of a list of each length
	for j := from; j < bEnd; j++ {
		i, ok := at[b[j].id]
		if !ok || i == twice || count[b[j].id] > 1 {
			continue
		}
		k, _ := slices.BinarySearchFunc(ends, i, func(n *node, i int) int { return n.pair[0] - i })
		n := &node{pair: [2]int{i, j}}
		if k > 0 {
			n.before = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, n)
		} else {
			ends[k] = n
		}
	}
	var pairs [][2]int
	if len(ends) > 0 {
		for n := ends[len(ends)-1]; n != nil; n = n.before {
			pairs = append(pairs, n.pair)
		}
	}
	slices.Reverse(pairs)
	return pairs
}
