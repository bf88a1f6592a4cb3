package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/PlakarKorp/go-cdc-chunkers/chunkers/fastcdc4stadia" // the algorithm
)

// alive returns the pieces that versions name, as sorted ranges, leaving out the versions for
// which spare is true.
func alive(ctx context.Context, s *Store, spare func(*Version) bool) (all []Run, err error) {
	err = s.eachVersion(ctx, func(v *Version) error {
		if spare(v) {
			return nil
		}
		runs, err := v.Runs()
		if err != nil {
			return fmt.Errorf("%s: %w: what a version needs cannot be told", s.db.path, ErrBroken)
		}
		if all = append(all, runs...); len(all) > 1<<20 {
			all = Ranges(all)
		}
		return nil
	})
	return Ranges(all), err
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

// eachPack calls f for all packs in order.
func eachPack(ctx context.Context, db *database, f func(*row) error) error {
	for at := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var r row
		rows, err := db.query(ctx, "SELECT "+packColumns+" FROM pack WHERE first > ? ORDER BY first LIMIT 1", at)
		if err != nil {
			return db.wrap(err)
		}
		found := rows.Next()
		if found {
			err = rows.Scan(&r.first, &r.n, &r.raw, &r.lens, &r.keys, &r.data)
		} else {
			err = rows.Err()
		}
		_ = rows.Close()
		if err != nil || !found {
			return db.wrap(err)
		}
		if err := f(&r); err != nil {
			return err
		}
		at = r.first
	}
}

// algorithm is FastCDC as in Google's cdc-file-transfer. The library's other FastCDC can be
// keyed, with a hash that queries the processor's features at every start of the program:
// half a millisecond in a virtual machine. Stores record where files were cut, so the
// algorithm may change.
const algorithm = "fastcdc4stadia"

const (
	longLine = 256 << 10 // a longer line is cut by content
	readSize = 1 << 20
)

// cutter splits files into pieces. It reuses its buffers from file to file.
type cutter struct {
	buf   []byte
	long  *chunkers.Chunker // for long lines: at least 16, usually 64, at most 256 KiB
	other *chunkers.Chunker // for files that are not chats: 2, 8, 32 KiB
}

func newCutter() (*cutter, error) {
	c := &cutter{buf: make([]byte, readSize+1)} // with an LF behind the last line
	var err error
	if c.long, err = newChunker(16<<10, 64<<10, maxPiece); err != nil {
		return nil, err
	}
	c.other, err = newChunker(2<<10, 8<<10, 32<<10)
	return c, err
}

func newChunker(least, normal, most int) (*chunkers.Chunker, error) {
	return chunkers.NewChunkerBuffer(algorithm, bytes.NewReader(nil),
		&chunkers.ChunkerOpts{MinSize: least, NormalSize: normal, MaxSize: most}, make([]byte, 2*most))
}

// lines calls piece for each piece of a chat, and whole with its lines, many at a time and
// each with an LF, except those that are cut by content. data and lines are valid until the
// next call.
func (c *cutter) lines(r io.Reader, piece func(data []byte, part Part) error, whole func(lines []byte)) error {
	start, end, ended := 0, 0, false
	from := 0 // of the lines that whole gets next
	for {
		line, rest, found := bytes.Cut(c.buf[start:end], []byte{'\n'})
		switch {
		case found && len(line) <= longLine:
			if err := piece(line, Whole); err != nil {
				return err
			}
			start = end - len(rest)
		case found || end-start > longLine:
			whole(c.buf[from:start])
			long := &lineReader{r: r, buf: c.buf[:readSize], start: start, end: end, ended: ended}
			if err := chunks(c.long, long, piece); err != nil {
				return err
			}
			if start, end, ended = long.start, long.end, long.ended; !long.lf {
				return nil
			}
			from = start
		case ended:
			c.buf[end] = '\n'
			whole(c.buf[from : end+1])
			return piece(line, Whole)
		default:
			whole(c.buf[from:start])
			copy(c.buf, c.buf[start:end])
			start, end, from = 0, end-start, 0
			n, err := r.Read(c.buf[end:readSize])
			end += n
			if errors.Is(err, io.EOF) {
				ended = true
			} else if err != nil {
				return err
			}
		}
	}
}

// file calls piece for each piece of a file that is not a chat.
func (c *cutter) file(r io.Reader, piece func(data []byte, part Part) error) error {
	return chunks(c.other, r, piece)
}

// chunks cuts what it reads from r by content; an empty r is one empty piece.
func chunks(c *chunkers.Chunker, r io.Reader, piece func(data []byte, part Part) error) error {
	c.Reset(r)
	var held []byte // the previous piece: the last one if no other follows
	begun := false
	for {
		data, err := c.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(data) > 0 {
			if begun {
				if err := piece(held, More); err != nil {
					return err
				}
			}
			held, begun = append(held[:0], data...), true
		}
		if err == nil {
			continue
		}
		if !begun {
			return piece(nil, Whole)
		}
		return piece(held, Last)
	}
}

// lineReader reads up to the next LF, from a buffer and then from r through it.
type lineReader struct {
	r          io.Reader
	buf        []byte
	start, end int
	ended      bool // r is at its end
	lf         bool // the LF was found; the buffer holds what follows it
}

func (l *lineReader) Read(p []byte) (int, error) {
	for l.start == l.end && !l.lf {
		if l.ended {
			return 0, io.EOF
		}
		n, err := l.r.Read(l.buf)
		l.start, l.end = 0, n
		if errors.Is(err, io.EOF) {
			l.ended = true
		} else if err != nil {
			return 0, err
		}
	}
	if l.lf {
		return 0, io.EOF
	}
	n := l.end - l.start
	i := bytes.IndexByte(l.buf[l.start:l.end], '\n')
	if i >= 0 {
		n = i
	}
	n = copy(p, l.buf[l.start:l.start+n])
	l.start += n
	if i >= 0 && n == i {
		l.start++
		l.lf = true
		if n == 0 {
			return 0, io.EOF
		}
	}
	return n, nil
}
