package jsonl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
)

// ErrChanged means that a file became shorter, or otherwise is not what it was, while
// it was read.
var ErrChanged = errors.New("the file changed while it was read")

// Source is a chat file's bytes: anything that can be read at an offset and whose size,
// in bytes, is known. Bytes beyond Size are not read, so that a file that grows
// meanwhile is read as it was.
type Source struct {
	R    io.ReaderAt
	Size int64

	block int64 // how much is read at once; 0: blockSize
}

// blockLen returns how many bytes of the source are read and scanned at once.
func (s Source) blockLen() int64 {
	if s.block > 0 {
		return s.block
	}
	return blockSize
}

// Bytes returns a source over data in memory.
func Bytes(data []byte) Source { return Source{R: bytes.NewReader(data), Size: int64(len(data))} }

// readAt fills p from off, up to the end of the source. The error is ErrChanged if
// there are fewer bytes than Size.
func (s Source) readAt(p []byte, off int64) (int, error) {
	if rest := s.Size - off; int64(len(p)) > rest {
		p = p[:rest]
	}
	n, err := s.R.ReadAt(p, off)
	if n == len(p) {
		return n, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = ErrChanged
	}
	return n, err
}

// Section returns length bytes from off, with some spare capacity, so that a link can
// be put into a line of megabytes without copying it.
func (s Source) Section(off, length int64) ([]byte, error) {
	const room = 4 << 10
	p := make([]byte, length, length+room)
	_, err := s.readAt(p, off)
	return p, err
}

// workers returns how many goroutines pay for reading the source from off on, or so
// many lines of it (below 0: all); at most limit if that is above 0.
func (s Source) workers(off int64, lines, limit int) int {
	const few = 100 // lines, which one block may well hold
	n := runtime.GOMAXPROCS(0)
	if limit > 0 {
		n = min(n, limit)
	}
	if lines >= 0 && lines <= few {
		n = 1
	}
	return int(min(int64(n), (s.Size-off)/s.blockLen()+1))
}

// ahead reads a source forwards, in blocks, while the blocks before are used.
type ahead struct {
	read <-chan chunk
	free chan<- []byte
	held []byte // the block that is in use
	stop func() // must be called at the end; the source is not read any more when it returns
}

// chunk is a block that was read, or why it was not.
type chunk struct {
	data []byte
	err  error
}

// aheadBlocks is how many blocks there are at most: one in use, one waiting, one being read. With
// two, writing waited for the other goroutine to wake up.
const aheadBlocks = 3

// readAhead begins to read a source. A source of one block is read at once.
func readAhead(ctx context.Context, src Source) *ahead {
	read, free := make(chan chunk, aheadBlocks), make(chan []byte, aheadBlocks)
	for range aheadBlocks {
		free <- nil
	}
	if src.Size <= src.blockLen() {
		src.readBlocks(ctx, read, free)
		return &ahead{read: read, free: free, stop: func() {}}
	}
	ctx, cancel := context.WithCancel(ctx)
	var reader sync.WaitGroup
	reader.Go(func() { src.readBlocks(ctx, read, free) })
	return &ahead{read: read, free: free, stop: func() {
		cancel()
		reader.Wait()
	}}
}

// readBlocks reads a source into blocks that are free; a nil one is made first. It ends after
// the first error.
func (s Source) readBlocks(ctx context.Context, read chan<- chunk, free <-chan []byte) {
	// Blocks begin in the middle of a page, as in makeRoom: what is written of them has often
	// moved by a few bytes.
	const before = 2 << 10
	for off := int64(0); off < s.Size; {
		var c chunk
		select {
		case c.data = <-free:
		case <-ctx.Done():
		}
		if c.err = ctx.Err(); c.err == nil {
			if c.data == nil {
				c.data = make([]byte, before+min(s.blockLen(), s.Size))[before:]
			}
			var n int
			n, c.err = s.readAt(c.data, off)
			c.data = c.data[:n]
			off += int64(n)
		}
		read <- c // there is room for all blocks
		if c.err != nil {
			return
		}
	}
}

// next returns the next block, empty at the source's end. It is valid until the next call.
func (a *ahead) next() ([]byte, error) {
	if a.held != nil {
		a.free <- a.held[:cap(a.held)]
	}
	c := <-a.read
	a.held = c.data
	return c.data, c.err
}
