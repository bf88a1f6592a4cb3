package keep

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
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

// differ compares versions of a chat.
type differ struct {
	s    *subject
	seed maphash.Seed
}

// text reads a line; nil where it is not in the store.
func (d *differ) text(ctx context.Context, l lineRef) []byte {
	for line, err := range d.s.store.Lines(ctx, l.runs) {
		if err != nil {
			return nil
		}
		return slices.Clone(line.Data)
	}
	return nil
}

// runsOf returns the runs of a version.
func (v *version) runsOf() ([]history.Run, error) {
	if v.file != "" {
		return v.runs, nil
	}
	return v.Runs()
}

// messages lists the lines of a version that are messages, as far as its first line tells.
func (d *differ) messages(ctx context.Context, v *version) ([]lineRef, error) {
	runs, err := v.runsOf()
	if err != nil {
		return nil, err
	}
	lines := lineRefs(runs, d.seed)
	header := v.head
	if v.file == "" && len(lines) > 0 {
		header = meta.IsHeader(d.text(ctx, lines[0]))
	}
	if header {
		lines = lines[1:]
	}
	if n := len(lines); n > 0 && n > v.Messages { // most often the empty one behind a final LF
		if last := d.text(ctx, lines[n-1]); last != nil && len(last) == 0 {
			lines = lines[:n-1]
		}
	}
	return lines, nil
}

// numbered lists a version's messages, and their indexes as SillyTavern counts: without
// blank and damaged lines.
func (d *differ) numbered(ctx context.Context, v *version) (lines []lineRef, index []int, err error) {
	runs, err := v.runsOf()
	if err != nil {
		return nil, nil, err
	}
	if v.file != "" {
		return nil, nil, fmt.Errorf("%s: %w of this backup: it is not in the history", v.file, ErrNoVersion)
	}
	all, n, i, header := lineRefs(runs, d.seed), 0, 0, false
	for line, err := range d.s.store.Lines(ctx, runs) {
		if err != nil {
			return nil, nil, err
		}
		ref := all[i]
		i++
		survives := jsonl.Valid(line.Data) && rawjson.KindOf(line.Data) == rawjson.ObjectKind
		if survives && !header {
			header = true
			if meta.IsHeader(line.Data) {
				continue
			}
		}
		if len(line.Data) == 0 {
			continue
		}
		lines, index = append(lines, ref), append(index, n)
		if survives {
			n++
		}
	}
	return lines, index, nil
}

// changes compares two versions of the chat.
func (d *differ) changes(ctx context.Context, older, newer []lineRef) []change {
	return compareLines(older, newer, func(i, j int) bool {
		return sameDate(d.text(ctx, older[i]), d.text(ctx, newer[j]))
	})
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

// sameDate reports whether two messages were sent at the same time. What cannot be read
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
