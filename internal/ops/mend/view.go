package mend

import (
	"cmp"
	"io"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// view is a chat's file with its header put in front, but not written: the header can be judged
// there with all that it names.
type view struct {
	splices  []rawjson.Splice // in the order of their places, not overlapping
	inserted bool             // the header is a line put in front
	from     int              // the line it came from; 0: it is new
}

// line returns the line of the file for a line of the view. A new header counts as the first
// line.
func (v *view) line(n int) int {
	switch {
	case v == nil || !v.inserted || n == 0:
		return n
	case n == 1:
		return max(v.from, 1)
	case v.from == 0 || n <= v.from:
		return n - 1
	}
	return n
}

// over returns the view of a file.
func (v *view) over(file jsonl.Source) jsonl.Source {
	if v == nil || len(v.splices) == 0 {
		return file
	}
	s := &spliced{file: file.R}
	at, off := int64(0), int64(0) // in the view, and in the file
	add := func(n int64, data []byte) {
		if n > 0 {
			s.pieces = append(s.pieces, piece{at: at, off: off, data: data})
			at += n
		}
	}
	for _, e := range v.splices {
		add(e.At-off, nil)
		off = e.At
		add(int64(len(e.Data)), e.Data)
		off += e.Len
	}
	add(file.Size-off, nil)
	s.size = at
	return jsonl.Source{R: s, Size: at}
}

// spliced reads a file with splices applied.
type spliced struct {
	file   io.ReaderAt
	pieces []piece
	size   int64
}

// piece is a stretch of the view: data or, if that is nil, the file from off.
type piece struct {
	at, off int64
	data    []byte
}

// ReadAt implements [io.ReaderAt].
func (s *spliced) ReadAt(p []byte, at int64) (n int, err error) {
	i, found := slices.BinarySearchFunc(s.pieces, at, func(p piece, at int64) int { return cmp.Compare(p.at, at) })
	if !found {
		i--
	}
	for ; n < len(p) && i >= 0 && i < len(s.pieces); i++ {
		one, end := &s.pieces[i], s.size
		if i+1 < len(s.pieces) {
			end = s.pieces[i+1].at
		}
		skip := at + int64(n) - one.at
		part := p[n:min(int64(len(p)), int64(n)+end-one.at-skip)]
		var did int
		if one.data != nil {
			did = copy(part, one.data[skip:])
		} else if did, err = s.file.ReadAt(part, one.off+skip); did < len(part) {
			return n + did, err
		}
		n += did
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
