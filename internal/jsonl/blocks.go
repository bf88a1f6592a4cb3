package jsonl

import (
	"bytes"
	"context"
	"runtime"
	"sync"
)

// blockSize is how much of a file is read and scanned at once. Two blocks in
// flight fill the caches of two cores and keep memory flat.
const blockSize = 1 << 20

// bom is the byte order mark in UTF-8.
const bom = "\xef\xbb\xbf"

// block is a run of whole lines of a file, or one line too long for a block.
type block struct {
	seq  int
	off  int64  // place of its first byte in the file
	line int    // physical lines before it, from where reading began
	buf  []byte // one spare byte, the data, one spare byte
	data []byte // whole lines, each with its LF; empty for a long line
	long int64  // length of the long line, without its LF; 0: data
	err  error  // what reading or scanning it met

	scanned
}

// scanned is what scanning a block found.
type scanned struct {
	kept    []keptLine
	out     []byte // the kept lines, an LF before each; nil for a long line
	damage  []Damage
	badUTF8 []int // which of kept have invalid UTF-8
}

// keptLine is a surviving line.
type keptLine struct {
	at, out int64 // where it begins in the block, and in out
	len     int64 // its bytes, without the line's end
	number  int   // physical lines of the block before it
}

func (b *block) reset() {
	b.data, b.long, b.err = nil, 0, nil
	b.kept, b.out = b.kept[:0], nil
	b.damage, b.badUTF8 = b.damage[:0], b.badUTF8[:0]
}

// reader cuts a source into blocks, in the file's order.
type reader struct {
	mu   sync.Mutex
	src  Source
	off  int64
	line int
	seq  int
	done bool
}

// next reads the next block into b, and is false at the end. The line's end is
// what is searched backwards: the bytes after it are read again with the next
// block, which is cheaper than handing them over.
func (r *reader) next(b *block) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done || r.off >= r.src.Size {
		return false
	}
	b.reset()
	b.seq, b.off, b.line = r.seq, r.off, r.line
	r.seq++
	if b.err = r.fill(b); b.err != nil {
		r.done = true
	}
	return true
}

func (r *reader) fill(b *block) error {
	if b.buf == nil {
		b.buf = make([]byte, 1+min(r.src.blockLen(), r.src.Size-r.off)+1)
		b.buf[0] = '\n'
	}
	room := b.buf[1 : len(b.buf)-1]
	n, err := r.src.readAt(room, r.off)
	if err != nil {
		return err
	}
	data := room[:n]
	if r.off+int64(n) == r.src.Size {
		r.off = r.src.Size
		if data[n-1] != '\n' {
			data = append(data, '\n') // the spare byte: every line has its LF
		}
		b.data = data
		return nil
	}
	if end := bytes.LastIndexByte(data, '\n'); end >= 0 {
		b.data = data[:end+1]
		r.off += int64(end) + 1
		r.line += bytes.Count(b.data, []byte{'\n'})
		return nil
	}
	b.long, err = r.measure(room, r.off+int64(n))
	r.off += b.long + 1
	r.line++
	return err
}

// measure gives the length of the line at r.off, which has no LF before at.
func (r *reader) measure(room []byte, at int64) (int64, error) {
	for at < r.src.Size {
		n, err := r.src.readAt(room, at)
		if err != nil {
			return 0, err
		}
		if k := bytes.IndexByte(room[:n], '\n'); k >= 0 {
			return at + int64(k) - r.off, nil
		}
		at += int64(n)
	}
	return r.src.Size - r.off, nil
}

// stage is one worker's part in a pipeline. scan may run beside other
// workers' scans; emit runs in the file's order, one at a time.
type stage interface {
	scan(b *block)
	emit(b *block) (more bool, err error)
}

// workers gives the number of goroutines that pays for a source of this size,
// at most limit where that is above 0.
func (s Source) workers(limit int) int {
	n := runtime.GOMAXPROCS(0)
	if limit > 0 {
		n = min(n, limit)
	}
	return int(min(int64(n), s.Size/s.blockLen()+1))
}

// pipeline runs the source from off through as many stages as workers: while
// one writes a block, the others read and scan the next ones.
func pipeline(ctx context.Context, src Source, off int64, workers int, newStage func() stage) error {
	r := &reader{src: src, off: off}
	t := &turn{}
	t.cond.L = &t.mu
	work := func() {
		st := newStage()
		b := new(block)
		for r.next(b) {
			if b.err == nil {
				b.err = ctx.Err()
			}
			if b.err == nil {
				st.scan(b)
			}
			if !t.take(b.seq) {
				return
			}
			more, err := false, b.err
			if err == nil {
				more, err = st.emit(b)
			}
			t.pass(more, err)
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return t.err
}

// turn lets the workers emit one after another, in the order of the blocks.
type turn struct {
	mu   sync.Mutex
	cond sync.Cond
	next int
	over bool
	err  error
}

// take waits for the block's turn; it is false when nothing more is wanted.
func (t *turn) take(seq int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next != seq && !t.over {
		t.cond.Wait()
	}
	return !t.over
}

func (t *turn) pass(more bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	if !more || err != nil {
		t.over, t.err = true, err
	}
	t.cond.Broadcast()
}
