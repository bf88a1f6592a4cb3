package history

import (
	"bytes"
	"errors"
	"io"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/PlakarKorp/go-cdc-chunkers/chunkers/fastcdc4stadia" // the algorithm
)

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
