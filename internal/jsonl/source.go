package jsonl

import (
	"bytes"
	"errors"
	"io"
	"runtime"
)

// ErrChanged means that a file became shorter while it was read.
var ErrChanged = errors.New("the file changed while it was read")

// Source is a chat file's bytes: anything that can be read at an offset and
// whose size is known. Bytes beyond Size are not looked at, so that a file
// that grows meanwhile is read as it was.
type Source struct {
	R    io.ReaderAt
	Size int64

	block int64 // how much is read at once; 0: blockSize
}

// blockLen is how much of the source is read and scanned at once.
func (s Source) blockLen() int64 {
	if s.block > 0 {
		return s.block
	}
	return blockSize
}

// Bytes returns a source over data in memory.
func Bytes(data []byte) Source { return Source{R: bytes.NewReader(data), Size: int64(len(data))} }

// readAt fills p from off, less where the source ends. Fewer bytes than Size
// promised are ErrChanged.
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

// Section reads length bytes from off into memory, with some room behind them: a
// line of megabytes into which a link is put need not be copied for that.
func (s Source) Section(off, length int64) ([]byte, error) {
	const room = 4 << 10
	p := make([]byte, length, length+room)
	_, err := s.readAt(p, off)
	return p, err
}

// workers returns the number of goroutines that pays for what a source has from off on,
// or for so many lines of it (below 0: all), at most limit where that is above 0.
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
