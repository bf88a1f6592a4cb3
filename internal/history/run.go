package history

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Part is how a piece relates to its line.
type Part uint8

// The kinds of piece.
const (
	Whole Part = iota // each piece is a line
	More              // a part of a line that goes on
	Last              // the last part of a line
)

// Run is a range of pieces that follow each other in a version.
type Run struct {
	First int64
	Count int64
	Part  Part
}

// Lines returns how many lines end in the run.
func (r Run) Lines() int64 {
	if r.Part == More {
		return 0
	}
	return r.Count
}

func appendRun(runs []Run, piece int64, part Part) []Run {
	if n := len(runs); n > 0 {
		last := &runs[n-1]
		if last.Part == part && last.First+last.Count == piece {
			last.Count++
			return runs
		}
	}
	return append(runs, Run{piece, 1, part})
}

// encodeRuns writes each run as varints: how far its first piece is from the end of the
// previous run, how many pieces it has, and their kind.
func encodeRuns(runs []Run) []byte {
	var b []byte
	end := int64(0)
	for _, r := range runs {
		b = binary.AppendVarint(b, r.First-end)
		b = binary.AppendUvarint(b, uint64(r.Count))
		b = binary.AppendUvarint(b, uint64(r.Part))
		end = r.First + r.Count
	}
	return b
}

var errRuns = fmt.Errorf("%w: a list of pieces makes no sense", ErrBroken)

// decodeRuns is the inverse of encodeRuns. What encodeRuns cannot have written is an error,
// as far as that can be detected.
func decodeRuns(b []byte) ([]Run, error) {
	ends := 0 // of numbers, three of which are a run
	for _, c := range b {
		if c < 0x80 {
			ends++
		}
	}

	runs := make([]Run, 0, ends/3)
	end := int64(0)
	for len(b) > 0 {
		delta, n := binary.Varint(b)
		count, rest := cutUvarint(b[max(n, 0):])
		part, after := cutUvarint(rest)
		isWhole := n > 0 && after != nil
		if !isWhole || part > uint64(Last) || count < 1 || count > math.MaxInt32 {
			return nil, errRuns
		}
		first := end + delta
		isSmall := delta <= math.MaxInt64/2 && first <= math.MaxInt64-math.MaxInt32 // no sum overflows
		if first < 1 || !isSmall {
			return nil, errRuns
		}
		runs = append(runs, Run{first, int64(count), Part(part)})
		end = first + int64(count)
		b = after
	}

	if len(runs) == 0 || runs[len(runs)-1].Part == More {
		return nil, errRuns
	}
	return runs, nil
}

// has reports whether sorted ranges hold a piece.
func has(sorted []Run, id int64) bool {
	i, found := slices.BinarySearchFunc(sorted, id, func(r Run, id int64) int { return int(min(max(r.First-id, -1), 1)) })
	return found || i > 0 && id < sorted[i-1].First+sorted[i-1].Count
}

// Ranges sorts runs by their pieces, and joins those that touch or overlap.
func Ranges(runs []Run) []Run {
	sorted := slices.Clone(runs)
	slices.SortFunc(sorted, func(a, b Run) int { return int(min(max(a.First-b.First, -1), 1)) })
	var out []Run
	for _, r := range sorted {
		if n := len(out); n > 0 && r.First <= out[n-1].First+out[n-1].Count {
			last := &out[n-1]
			last.Count = max(last.Count, r.First+r.Count-last.First)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Without returns the ranges of the pieces that are in a and not in b.
func Without(a, b []Run) (rest []Run) {
	b = Ranges(b)
	for _, r := range Ranges(a) {
		for r.Count > 0 {
			for len(b) > 0 && b[0].First+b[0].Count <= r.First {
				b = b[1:]
			}
			free, drop := r.Count, int64(0)
			if len(b) > 0 {
				free = min(r.Count, max(b[0].First-r.First, 0))
				drop = min(r.Count, max(b[0].First+b[0].Count-r.First, 0))
			}
			if free > 0 {
				rest = append(rest, Run{First: r.First, Count: free, Part: r.Part})
			}
			gone := max(free, drop)
			r.First, r.Count = r.First+gone, r.Count-gone
		}
	}
	return rest
}
