package keep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"slices"

	"stchat/internal/chat"
	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
)

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
			switch r.Part {
			case history.Whole:
				list = append(list, lineRef{id: uint64(piece.First), runs: []history.Run{piece}})
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
			list = append(list, lineRef{id: h.Sum64() | 1<<63, runs: parts})
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
	list := lineRefs(v.runs, d.seed)
	return list, place(list, v)
}

// place notes where lines are in the file that they were read from.
func place(list []lineRef, v *version) error {
	f, err := chat.OpenRegular(v.file)
	if err != nil {
		return ops.PathError(err)
	}
	defer f.Close()
	r, off := bufio.NewReader(f), int64(0)
	for i := range list {
		size, err := lineSize(r)
		if err != nil {
			return ops.PathError(err)
		}
		list[i].file, list[i].off, list[i].size = v.file, off, size
		off += size + 1
	}
	if off != v.Size+1 { // the last line has no LF
		return fmt.Errorf("%s: %w", v.file, jsonl.ErrChanged)
	}
	return nil
}

// lineSize reads one line, and returns its length in bytes without the LF.
func lineSize(r *bufio.Reader) (size int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		switch {
		case err == nil:
			return size - 1, nil
		case errors.Is(err, io.EOF):
			return size, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return 0, err
		}
	}
}

// each yields lines of a version in order. A line is valid until the next.
func (d *differ) each(ctx context.Context, v *version, list []lineRef) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if v.file == "" {
			var runs []history.Run
			for _, l := range list {
				runs = append(runs, l.runs...)
			}
			for line, err := range d.s.store.Lines(ctx, runs) {
				if !yield(line.Data, err) {
					return
				}
			}
			return
		}
		f, err := chat.OpenRegular(v.file)
		if err != nil {
			yield(nil, ops.PathError(err))
			return
		}
		defer f.Close()
		var data []byte
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
	if l.file != "" {
		f, err := chat.OpenRegular(l.file)
		if err != nil {
			return nil
		}
		defer f.Close()
		data := make([]byte, l.size)
		if _, err := f.ReadAt(data, l.off); err != nil {
			return nil
		}
		return data
	}
	for line, err := range d.s.store.Lines(ctx, l.runs) {
		if err != nil {
			return nil
		}
		return slices.Clone(line.Data)
	}
	return nil
}
