package keep

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"slices"

	"stchat/internal/align"
	"stchat/internal/chat"
	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
)

// differ compares versions of a chat.
type differ struct {
	store *history.Store
	seed  maphash.Seed
}

func newDiffer(s *history.Store) *differ { return &differ{s, maphash.MakeSeed()} }

// messages lists the lines of a version without its header and blank ones. Damaged lines
// remain. It reads the first and the last line alone where no other can be damaged or blank.
func (d *differ) messages(ctx context.Context, v *version) ([]lineRef, error) {
	lines, err := d.lines(v)
	if err != nil {
		return nil, err
	}
	if v.head || v.file == "" && len(lines) > 0 && meta.IsHeader(d.text(ctx, lines[0])) {
		lines = lines[1:]
	}
	if n := len(lines); n == v.Messages+1 { // usually the empty one after a final LF
		if last := d.text(ctx, lines[n-1]); last != nil && len(last) == 0 {
			lines = lines[:n-1]
		}
	}
	if len(lines) > v.Messages {
		lines, _, err = d.numbered(ctx, v)
	}
	return lines, err
}

// numbered lists a version's lines without its header and blank ones, and their message
// indexes as SillyTavern counts them. A damaged line has the index of the message after it.
func (d *differ) numbered(ctx context.Context, v *version) (lines []lineRef, index []int, err error) {
	all, err := d.lines(v)
	if err != nil {
		return nil, nil, err
	}
	n, i, header := 0, 0, false
	for data, err := range d.each(ctx, all) {
		if err != nil {
			return nil, nil, err
		}
		ref := all[i]
		i++
		survives := jsonl.Valid(data) && rawjson.KindOf(data) == rawjson.ObjectKind
		if survives && !header {
			header = true
			if meta.IsHeader(data) {
				continue
			}
		}
		if len(bytes.Trim(data, " \t\r")) == 0 { // SillyTavern skips it
			continue
		}
		lines, index = append(lines, ref), append(index, n)
		if survives {
			n++
		}
	}
	return lines, index, nil
}

// change is one message that differs between two versions: from is below 0 if it was added,
// to if it was removed.
type change struct{ from, to int }

// changes compares two versions of the chat.
func (d *differ) changes(ctx context.Context, older, newer []lineRef) (list []change) {
	side := func(lines []lineRef) align.Side {
		keys := make([]uint64, len(lines))
		for i, l := range lines {
			keys[i] = l.id
		}
		return align.Side{Keys: keys, Near: func(i int) align.Near { return align.ReadNear(d.text(ctx, lines[i])) }}
	}
	pairs := align.Messages(side(older), side(newer), false)
	for p := range align.Rows(pairs, len(older), len(newer)) {
		if p.A < 0 || p.B < 0 || older[p.A].id != newer[p.B].id {
			list = append(list, change{p.A, p.B})
		}
	}
	return list
}

// lineRef is one line of a version.
type lineRef struct {
	id   uint64        // the same for equal lines of one store
	runs []history.Run // its pieces

	file      string // set if the line is read from a backup that is not in the store
	off, size int64
}

// lineRefs lists the lines that runs consist of. Lines stored in parts are known by the
// hash of their pieces.
func lineRefs(runs []history.Run, seed maphash.Seed) []lineRef {
	var list []lineRef
	var parts []history.Run
	for _, r := range runs {
		for i := range r.Count {
			piece := history.Run{First: r.First + i, Count: 1, Part: r.Part}
			if r.Part == history.Whole {
				list = append(list, lineRef{id: uint64(piece.First), runs: []history.Run{piece}})
				continue
			}
			if parts = append(parts, piece); r.Part == history.More {
				continue
			}
			list = append(list, lineRef{id: maphash.String(seed, fmt.Sprint(parts)) | 1<<63, runs: parts})
			parts = nil
		}
	}
	return list
}

// lines lists a version's lines.
func (d *differ) lines(v *version) ([]lineRef, error) {
	if v.file == "" {
		runs, err := v.Runs()
		return lineRefs(runs, d.seed), err
	}
	list, at := lineRefs(v.runs, d.seed), int64(0)
	for i, end := range v.ends {
		list[i].file, list[i].off, list[i].size = v.file, at, end-at
		at = end + 1
	}
	return list, nil
}

// lineEnds notes where the lines end in what is read through it.
type lineEnds struct {
	io.Reader
	ends []int64
	read int64
}

func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// each yields lines of one version, in order. A line is valid until the next.
func (d *differ) each(ctx context.Context, list []lineRef) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var runs []history.Run
		for _, l := range list {
			runs = append(runs, l.runs...)
		}
		if len(list) == 0 || list[0].file == "" {
			for line, err := range d.store.Lines(ctx, runs) {
				if !yield(line.Data, err) {
					return
				}
			}
			return
		}
		f, err := chat.OpenRegular(list[0].file)
		if err != nil {
			yield(nil, ops.PathError(err))
			return
		}
		defer f.Close()
		data := []byte{} // not nil: an empty line can be read
		for _, l := range list {
			data = slices.Grow(data[:0], int(l.size))[:l.size]
			if _, err := f.ReadAt(data, l.off); err != nil {
				yield(nil, ops.PathError(err))
				return
			}
			if !yield(data, nil) {
				return
			}
		}
	}
}

// text returns a line, nil if it cannot be read any more.
func (d *differ) text(ctx context.Context, l lineRef) []byte {
	for data, err := range d.each(ctx, []lineRef{l}) {
		if err != nil {
			return nil
		}
		return slices.Clone(data)
	}
	return nil
}
