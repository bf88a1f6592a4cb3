package jsonl

import (
	"context"
	"sync"
)

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
