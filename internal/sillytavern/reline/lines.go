package reline

import (
	"context"
	"io"
	"sort"

	"stchat/internal/jsonl"
)

// how is what becomes of a piece of the file.
type how uint8

const (
	asIs      how = iota
	spread        // white space goes, until a string begins
	inString      // likewise, but the piece begins in a string
	inEscape      // likewise, after a backslash in a string
	lineBreak     // not of the file: a line end that it lacks
)

// piece is a part of the result.
type piece struct {
	out      int64 // where it begins in the result
	off, len int64 // of the file
	how      how
}

// pieceLen is the length, in the file, of a piece from which white space goes. To read the middle of
// one it is gone through from its beginning.
const pieceLen = 32 << 10

// mark says that from a line of the result on, the lines of the file are so many more.
type mark struct {
	out, src int  // physical lines, from 1
	same     bool // their bytes are those of the file
}

// lines is a file as lines: pieces of it, in its order.
type lines struct {
	pieces []piece
	marks  []mark
	end    string // of a line
	size   int64
}

// over returns the file as lines.
func (l *lines) over(src jsonl.Source) jsonl.Source {
	return jsonl.Source{R: &relined{l, src}, Size: l.size}
}

type relined struct {
	lines *lines
	src   jsonl.Source
}

// ReadAt implements [io.ReaderAt]. The pieces are in the file's order, so what is asked for lies in
// one stretch of the file, which is read in large windows.
func (r *relined) ReadAt(p []byte, off int64) (n int, err error) {
	l := r.lines
	const atLeast = 4 << 10
	w := window{ctx: context.Background(), src: r.src, most: min(max(int64(len(p)), atLeast), readMost)}
	for i := l.at(off); n < len(p) && i < len(l.pieces); i++ {
		one := &l.pieces[i]
		skip := off + int64(n) - one.out
		switch one.how {
		case lineBreak:
			n += copy(p[n:], l.end[skip:])
		case asIs:
			for skip < one.len && n < len(p) {
				did := copy(p[n:], w.from(one.off+skip, one.off+one.len))
				if did == 0 {
					return n, w.err
				}
				n, skip = n+did, skip+int64(did)
			}
		default:
			dense, err := r.dense(&w, one)
			if err != nil {
				return n, err
			}
			n += copy(p[n:], dense[skip:])
		}
	}

	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// dense returns a piece without its white space.
func (r *relined) dense(w *window, one *piece) ([]byte, error) {
	out := make([]byte, 0, one.len)
	s := squeezer{one.how}
	for at := one.off; at < one.off+one.len; {
		part := w.from(at, one.off+one.len)
		if len(part) == 0 {
			return nil, w.err
		}
		out = s.squeeze(out, part)
		at += int64(len(part))
	}
	return out, nil
}

// at returns the piece in which an offset of the result lies.
func (l *lines) at(off int64) int {
	return max(0, sort.Search(len(l.pieces), func(i int) bool { return l.pieces[i].out > off })-1)
}

// squeezer takes the white space out of JSON that comes in parts.
type squeezer struct{ how how }

// squeeze adds to out what is left of a part.
func (s *squeezer) squeeze(out, part []byte) []byte {
	for _, c := range part {
		switch {
		case s.how == inEscape:
			s.how = inString
		case s.how == inString && c == '\\':
			s.how = inEscape
		case c == '"' && s.how == inString:
			s.how = spread
		case c == '"':
			s.how = inString
		case s.how == spread && (isBlank(c) || c == '\n'):
			continue
		}
		out = append(out, c)
	}
	return out
}

// window reads a file forwards in large parts.
type window struct {
	ctx  context.Context
	src  jsonl.Source
	most int64 // how much is read at once
	buf  []byte
	at   int64
	err  error
}

// readMost is how much is read at once where everything is wanted.
const readMost = 128 << 10

// from returns bytes of the file from an offset on, but none from end on: at least one unless the file
// cannot be read, or off is not before end.
func (w *window) from(off, end int64) []byte {
	if off >= end || w.err != nil {
		return nil
	}
	if off < w.at || off >= w.at+int64(len(w.buf)) {
		w.at = off
		if w.err = w.ctx.Err(); w.err != nil {
			return nil
		}
		w.buf, w.err = w.src.ReadSection(w.buf, off, min(w.most, w.src.Size-off))
		if w.err != nil {
			return nil
		}
	}
	return w.buf[off-w.at : min(end-w.at, int64(len(w.buf)))]
}

// builder puts lines together.
type builder struct {
	lines
	count  int  // lines begun
	inLine bool // the last one has no line end yet
}

// add adds a piece that has so many bytes in the result.
func (b *builder) add(off, length, size int64, how how) {
	if n := len(b.pieces); n > 0 && how == asIs && length > 0 {
		last := &b.pieces[n-1]
		if last.how == asIs && last.off+last.len == off {
			last.len += length
			b.size += size
			return
		}
	}
	b.pieces = append(b.pieces, piece{b.size, off, length, how})
	b.size += size
}

// begin begins a line of the result, of line src of the file.
func (b *builder) begin(src int, same bool) {
	if b.inLine {
		b.add(0, 0, int64(len(b.end)), lineBreak)
	}
	b.inLine = true
	b.count++
	if n := len(b.marks); n > 0 {
		last := b.marks[n-1]
		if last.src-last.out == src-b.count && last.same == same {
			return
		}
	}

	b.marks = append(b.marks, mark{b.count, src, same})
}

// line adds a line of the file as it stands; hasEnd says that its line end is part of it.
func (b *builder) line(off, length int64, src int, same, hasEnd bool) {
	b.begin(src, same)
	b.add(off, length, length, asIs)
	b.inLine = !hasEnd
}

// spread adds an object that is spread over lines. An error stays in w.
func (b *builder) spread(w *window, off, end int64, src int) {
	b.begin(src, false)
	s := squeezer{spread}
	var room []byte
	for at := off; at < end; {
		part := w.from(at, min(end, at+pieceLen))
		if len(part) == 0 {
			return
		}
		was := s.how
		room = s.squeeze(room[:0], part)
		b.add(at, int64(len(part)), int64(len(room)), was)
		at += int64(len(part))
	}
}
