package jsonl

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
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

// ReadSection is [Source.Section] in the memory of p, where that is enough.
func (s Source) ReadSection(p []byte, off, length int64) ([]byte, error) {
	p = slices.Grow(p[:0], int(length))[:length]
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
