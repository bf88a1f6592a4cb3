package edit

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"

	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// splices are the edits of a file, in its order. They are kept until it is known what comes
// before them: a few in memory, more in an unnamed file.
type splices struct {
	beside string // the file beside which that file is made; "": in the system's temporary folder
	counts bool   // only count them and how much they change the size
	n      int
	grown  int64 // bytes added, less bytes removed

	tail    []byte // the last ones, encoded
	file    *os.File
	size    int64 // of the file
	cleanup func()
}

// keptInMemory is how many bytes of splices are kept in memory.
const keptInMemory = 128 << 10

// changeOf returns the difference between a line and the edited line as one splice.
func changeOf(line, edited []byte) rawjson.Splice {
	front := common(line, edited, func(b []byte, at, n int) []byte { return b[at : at+n] })
	line, edited = line[front:], edited[front:]
	back := common(line, edited, func(b []byte, at, n int) []byte { return b[len(b)-at-n : len(b)-at] })
	return rawjson.Splice{At: int64(front), Len: int64(len(line) - back), Data: edited[:len(edited)-back]}
}

// common returns how many bytes two texts share; part cuts n bytes at an offset, from the front
// or the back.
func common(a, b []byte, part func(b []byte, at, n int) []byte) int {
	at := 0
	for step := min(len(a), len(b)); step > 0; {
		if step = min(step, len(a)-at, len(b)-at); bytes.Equal(part(a, at, step), part(b, at, step)) {
			at += step
		} else {
			step /= 2
		}
	}
	return at
}

// put appends the next splice.
func (s *splices) put(e rawjson.Splice) error {
	s.n++
	s.grown += int64(len(e.Data)) - e.Len
	if s.counts {
		return nil
	}
	for _, n := range []int64{e.At, e.Len, int64(len(e.Data))} {
		s.tail = binary.AppendVarint(s.tail, n)
	}
	if len(s.tail)+len(e.Data) <= keptInMemory {
		s.tail = append(s.tail, e.Data...)
		return nil
	}
	if err := s.flush(s.tail); err != nil {
		return err
	}
	s.tail = s.tail[:0]
	return s.flush(e.Data)
}

// take appends those of other splices that begin before an offset.
func (s *splices) take(from *reading, off int64) error {
	for e, ok := from.before(off); ok; e, ok = from.before(off) {
		if err := s.put(e); err != nil {
			return err
		}
	}
	return from.err
}

// flush writes to the file, and creates it first if needed.
func (s *splices) flush(p []byte) (err error) {
	if s.file == nil {
		dir := ""
		if s.beside != "" {
			dir = filepath.Dir(userdir.RealPath(s.beside))
		}
		if s.file, s.cleanup, err = safefile.Scratch(dir); err != nil {
			return err
		}
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	return err
}

// reading iterates over splices.
type reading struct {
	in   *bufio.Reader
	left int // not read yet
	next rawjson.Splice
	held bool // next was read but not returned yet
	err  error
}

// read returns an iteration over the splices from the first on. None may be put meanwhile.
func (s *splices) read() *reading {
	var from io.Reader = bytes.NewReader(s.tail)
	if s.file != nil {
		from = io.MultiReader(io.NewSectionReader(s.file, 0, s.size), from)
	}
	left := s.n
	if s.counts {
		left = 0
	}
	if left == 0 {
		return &reading{}
	}
	return &reading{in: bufio.NewReaderSize(from, 64<<10), left: left}
}

// before returns the next splice if it begins before an offset. Its data is valid until the
// next call.
func (r *reading) before(off int64) (e rawjson.Splice, ok bool) {
	if !r.held {
		if r.left == 0 || r.err != nil {
			return e, false
		}
		r.left--
		if r.err = r.decode(); r.err != nil {
			return e, false
		}
	}
	r.held = r.next.At >= off
	return r.next, !r.held
}

// skip skips the splices that begin before an offset.
func (r *reading) skip(off int64) {
	for _, ok := r.before(off); ok; _, ok = r.before(off) {
	}
}

// decode reads the next splice. Its data reuses the memory of the one before it, if there is
// room.
func (r *reading) decode() error {
	var numbers [3]int64
	for i := range numbers {
		var err error
		if numbers[i], err = binary.ReadVarint(r.in); err != nil {
			return err
		}
	}
	room := r.next.Data
	if n := numbers[2]; int64(cap(room)) < n {
		room = make([]byte, n)
	} else {
		room = room[:n]
	}
	r.next = rawjson.Splice{At: numbers[0], Len: numbers[1], Data: room}
	_, err := io.ReadFull(r.in, room)
	return err
}

// close removes the file, if there is one.
func (s *splices) close() {
	if s.cleanup != nil {
		s.cleanup()
	}
}
