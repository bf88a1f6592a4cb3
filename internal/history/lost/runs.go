package lost

import (
	"iter"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
)

// lineRuns yields the runs of a version in order: those of whole lines one by one, and together those
// that are parts of the same lines.
func lineRuns(runs []history.Run) iter.Seq[[]history.Run] {
	return func(yield func([]history.Run) bool) {
		for len(runs) > 0 {
			n := 1
			for n < len(runs) && runs[n-1].Part == history.More {
				n++
			}
			if !yield(runs[:n]) {
				return
			}
			runs = runs[n:]
		}
	}
}

// manyPieces is how many pieces are read at once, at most. A damaged run may have thousands of millions,
// and is noticed as soon as some of them are not there.
const manyPieces = 1 << 12

// unread yields the stretches of a run of whole lines that were not read yet: what follows each other
// together, since packs are unpacked whole.
func unread(run history.Run, isRead func(piece int64) bool) iter.Seq[history.Run] {
	return func(yield func(history.Run) bool) {
		end := run.First + run.Count
		for from := run.First; from < end; {
			if isRead(from) {
				from++
				continue
			}
			to := from + 1
			for to < min(end, from+manyPieces) && !isRead(to) {
				to++
			}
			if !yield(history.Run{First: from, Count: to - from, Part: history.Whole}) {
				return
			}
			from = to
		}
	}
}

// behindHeader returns where the messages of a file with this head begin, and whether the head is a header.
func behindHeader(head jsonl.Head, keys *jsonl.Keys) (opt jsonl.MapOptions, isHeader bool) {
	opt = jsonl.MapOptions{From: head.Off, Line: max(head.Number-1, 0), Keys: keys}
	isHeader = meta.IsHeader(head.Line)
	if isHeader {
		opt.From = head.Next
		opt.Line = head.Number
	}
	return opt, isHeader
}
