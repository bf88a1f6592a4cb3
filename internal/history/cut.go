package history

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/PlakarKorp/go-cdc-chunkers/chunkers/fastcdc4stadia" // the algorithm
)

// algorithm is FastCDC as in Google's cdc-file-transfer. The library's other FastCDC can be
// keyed, with a hash that queries the processor's features at every start of the program:
// half a millisecond in a virtual machine. Stores record where files were cut, so the
// algorithm may change.
const algorithm = "fastcdc4stadia"

const (
	longLine = 256 << 10    // a longer line is cut by content
	readSize = longLine + 1 // a line with its LF
)

// cutter splits files into pieces. It reuses its buffers from file to file.
type cutter struct {
	in    *bufio.Reader
	long  *chunkers.Chunker // for long lines: at least 16, usually 64, at most 256 KiB
	other *chunkers.Chunker // for files that are not chats: 2, 8, 32 KiB
}

func newCutter() *cutter {
	return &cutter{in: bufio.NewReaderSize(nil, readSize), long: newChunker(16<<10, 64<<10, maxPiece), other: newChunker(2<<10, 8<<10, 32<<10)}
}

func newChunker(least, normal, most int) *chunkers.Chunker {
	return sure(chunkers.NewChunkerBuffer(algorithm, bytes.NewReader(nil),
		&chunkers.ChunkerOpts{MinSize: least, NormalSize: normal, MaxSize: most}, make([]byte, 2*most)))
}

// cut calls piece for each piece of a file, and of a chat whole with each line, with an LF, that is
// not cut by content. data and line are valid until the next call.
func (c *cutter) cut(r io.Reader, chat bool, piece func(data []byte, part Part) error, whole func(line []byte)) error {
	if !chat {
		return chunks(c.other, r, piece)
	}
	c.in.Reset(r)
	for {
		line, err := c.in.ReadSlice('\n')
		switch {
		case err == nil:
			whole(line)
			err = piece(line[:len(line)-1], Whole)
		case errors.Is(err, bufio.ErrBufferFull):
			rest := &lineReader{r: c.in}
			err = chunks(c.long, io.MultiReader(bytes.NewReader(line), rest), piece)
			isLast := !rest.lf
			if err == nil && isLast {
				return nil
			}
		case errors.Is(err, io.EOF):
			whole(append(slices.Clone(line), '\n'))
			return piece(line, Whole)
		}
		if err != nil {
			return err
		}
	}
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
			held = append(held[:0], data...)
			begun = true
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

// lineReader reads up to the next LF, and past it.
type lineReader struct {
	r  *bufio.Reader
	lf bool // the LF was found
}

func (l *lineReader) Read(p []byte) (int, error) {
	if l.lf {
		return 0, io.EOF
	}
	if _, err := l.r.Peek(1); err != nil {
		return 0, err
	}
	ahead, _ := l.r.Peek(min(len(p), l.r.Buffered()))
	n := len(ahead)
	data, _, found := bytes.Cut(ahead, []byte{'\n'})
	l.lf = found
	if found {
		n = len(data) + 1
	}
	copy(p, data)
	_, err := l.r.Discard(n)
	return len(data), err
}
