package keep

import (
	"context"
	"hash/maphash"
	"slices"

	"stchat/internal/history"
	"stchat/internal/meta"
	"stchat/internal/sendate"
)

// lineRef is one line of a version.
type lineRef struct {
	id   uint64        // equal lines of one store have equal ones
	runs []history.Run // its pieces
}

// lineRefs lists a version's lines.
func lineRefs(runs []history.Run, seed maphash.Seed) []lineRef {
	var list []lineRef
	var parts []history.Run
	for _, r := range runs {
		for i := range r.Count {
			piece := history.Run{First: r.First + i, Count: 1, Part: r.Part}
			switch r.Part {
			case history.Whole:
				list = append(list, lineRef{uint64(piece.First), []history.Run{piece}})
				continue
			case history.More:
				parts = append(parts, piece)
				continue
			}
			parts = append(parts, piece)
			var h maphash.Hash
			h.SetSeed(seed)
			for _, p := range parts {
				maphash.WriteComparable(&h, p.First)
			}
			list = append(list, lineRef{h.Sum64() | 1<<63, parts})
			parts = nil
		}
	}
	return list
}

// text reads a line; nil where it is not in the store.
func (s *subject) text(ctx context.Context, l lineRef) []byte {
	for line, err := range s.store.Lines(ctx, l.runs) {
		if err != nil {
			return nil
		}
		return slices.Clone(line.Data)
	}
	return nil
}

// runsOf gives the runs of a version.
func (v *version) runsOf() ([]history.Run, error) {
	if v.file != "" {
		return v.runs, nil
	}
	return v.Runs()
}

// messages lists the lines of a version that are messages, as far as its first line tells.
func (s *subject) messages(ctx context.Context, v *version, seed maphash.Seed) ([]lineRef, error) {
	runs, err := v.runsOf()
	if err != nil {
		return nil, err
	}
	lines := lineRefs(runs, seed)
	header := v.head
	if v.file == "" && len(lines) > 0 {
		header = meta.IsHeader(s.text(ctx, lines[0]))
	}
	if header {
		lines = lines[1:]
	}
	if n := len(lines); n > 0 && n > v.Messages { // most often the empty one behind a final LF
		if last := s.text(ctx, lines[n-1]); last != nil && len(last) == 0 {
			lines = lines[:n-1]
		}
	}
	return lines, nil
}

// change is one message that differs between two versions: from or to is below 0 where it
// was added or removed.
type change struct{ from, to int }

// compareLines finds what differs between two versions' messages. Messages at the same
// place between others that are equal are one that changed, if dated says so.
func compareLines(a, b []lineRef, dated func(i, j int) bool) []change {
	var list []change
	i, j := 0, 0
	for _, m := range append(align(a, b), [2]int{len(a), len(b)}) {
		for i < m[0] || j < m[1] {
			switch {
			case i < m[0] && j < m[1] && dated(i, j):
				list = append(list, change{i, j})
				i++
				j++
			case i < m[0] && (j == m[1] || m[0]-i >= m[1]-j):
				list = append(list, change{i, -1})
				i++
			default:
				list = append(list, change{-1, j})
				j++
			}
		}
		i, j = m[0]+1, m[1]+1
	}
	return list
}

// align pairs equal lines, in the order of both: those at the beginning and at the end,
// and between them those that stand once in each, as many as stay in order.
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

// inOrder pairs the unique lines of a[from:aEnd] and b[from:bEnd]: the longest list that
// rises in both.
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
	var ends []*node // of the best list of each length
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

// sameDate says whether two messages were sent at the same time. What cannot be read
// counts as the same: then only the place tells.
func sameDate(a, b []byte) bool {
	if a == nil || b == nil {
		return true
	}
	x, y := field(a, "send_date"), field(b, "send_date")
	if string(x) == string(y) {
		return true
	}
	s, okS := sendate.ParseRaw(x)
	t, okT := sendate.ParseRaw(y)
	return okS && okT && s.Equal(t)
}
