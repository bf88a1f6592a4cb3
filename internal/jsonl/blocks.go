package jsonl

import (
	"bytes"
	"context"
	"sync"
)

// blockSize is how much of a file, in bytes, is read and scanned at once: small enough that a
// block is still in its core's cache when it is scanned and written.
const blockSize = 256 << 10

// mapBlock is the block size where nothing is written and several goroutines read. Larger
// blocks make reading cheaper, but leave the cache before they are written, and hold more of a
// million short lines in memory.
const mapBlock = 512 << 10

// bom is the byte order mark in UTF-8.
const bom = "\xef\xbb\xbf"

// block is a run of whole lines of a file, or one line too long for a block.
type block struct {
	seq  int
	off  int64  // offset of its first byte in the file
	line int    // physical lines before it, from where reading began; set when it is emitted
	buf  []byte // a spare byte, the data, a spare byte
	data []byte // whole lines, each with its LF; empty for a long line
	long int64  // length of the long line, without its LF; 0: the block has data
	err  error  // error of reading or scanning it

	scanned
}

// scanned is the result of scanning a block.
type scanned struct {
	lines   int // physical lines
	kept    []keptLine
	out     []byte // the kept lines, an LF before each; nil for a long line
	damage  Damages
	badUTF8 []int32 // indexes in kept of lines with invalid UTF-8
}

// keptLine is a surviving line.
type keptLine struct {
	len     int64 // its bytes, without the line's end
	at, out int32 // where it begins, in the block and in out
	number  int32 // physical lines of the block before it
	damaged int32 // damaged ones among them, and a BOM before this one
}

func (b *block) reset() {
	b.data = nil
	b.long = 0
	b.err = nil
	b.scanned.reset()
}

// reset forgets the result and keeps its memory.
func (s *scanned) reset() {
	*s = scanned{kept: s.kept[:0], damage: Damages{First: s.damage.First[:0]}, badUTF8: s.badUTF8[:0]}
}

// damageIn returns the damage of the block, or with full only that before the last of its first
// keep surviving lines. line and index are how many physical and surviving lines come before
// the block.
func (b *block) damageIn(keep int, full bool, line, index int) Damages {
	d := b.damage
	if full {
		d.Total = int(b.kept[keep-1].damaged)
		d.First = d.First[:min(d.Total, len(d.First))]
	}
	for i := range d.First {
		d.First[i].Line += line
		d.First[i].Before += index
	}
	return d
}

// makeRoom allocates buf for n bytes of data, which begin 64 bytes into a page. Files begin at
// a page's start, and some processors copy at a quarter of their speed if the target's offset
// in its page is a few bytes after the source's.
func (b *block) makeRoom(n int) {
	const before = 63
	b.buf = make([]byte, before+1+n+1)[before:]
	b.buf[0] = '\n'
}

// reader cuts a source into blocks, in the file's order.
type reader struct {
	mu   sync.Mutex
	src  Source
	off  int64
	seq  int
	done bool
}

// next reads the next block into b, and returns false at the end. The block ends with its last
// LF: the bytes after that are read again with the next block, which is cheaper than handing
// them over.
func (r *reader) next(b *block, st stage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done || r.off >= r.src.Size {
		return false
	}
	b.reset()
	b.seq, b.off = r.seq, r.off
	r.seq++
	if b.err = r.fill(b, st); b.err != nil {
		r.done = true
	}
	return true
}

func (r *reader) fill(b *block, st stage) error {
	if b.buf == nil {
		b.makeRoom(int(min(r.src.blockLen(), r.src.Size-r.off)))
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
			data = append(data, '\n') // in the spare byte: every line ends in LF
		}
		b.data = data
		return nil
	}

	if end := lastLF(data); end >= 0 {
		b.data = data[:end+1]
		r.off += int64(end) + 1
		return nil
	}

	err = st.measure(b, n)
	r.off += b.long + 1
	return err
}

// lastLF is bytes.LastIndexByte for an LF, but searches runs of bytes: LastIndexByte looks at
// one at a time.
func lastLF(p []byte) int {
	const run = 512
	for end := len(p); end > 0; end -= min(run, end) {
		from := max(0, end-run)
		for i := bytes.IndexByte(p[from:end], '\n'); i >= 0; {
			from += i + 1
			if i = bytes.IndexByte(p[from:end], '\n'); i < 0 {
				return from - 1
			}
		}
	}
	return -1
}

// measure sets b.long to the length of the line at b.off, of which b holds the first n bytes
// and no LF.
func (b *block) measure(src Source, n int) error {
	room := b.buf[1 : len(b.buf)-1]
	for b.long = int64(n); b.off+b.long < src.Size; b.long += int64(n) {
		var err error
		if n, err = src.readAt(room, b.off+b.long); err != nil {
			return err
		}
		if k := bytes.IndexByte(room[:n], '\n'); k >= 0 {
			b.long += int64(k)
			break
		}
	}
	return nil
}

// note adds the damage of the line that was just read, which has number physical lines of the
// block before it. The damage is described only if it is among those that are kept.
func (b *block) note(s *scanner, number int, hasBOM bool) {
	if len(b.damage.First) == MaxDamage {
		b.damage.Total++
		return
	}
	d := s.damage(hasBOM)
	d.Line, d.Before = number+1, len(b.kept)
	b.damage.Add(d)
}

// keep adds a surviving line.
func (b *block) keep(k keptLine, badUTF8 bool) {
	if badUTF8 {
		b.badUTF8 = append(b.badUTF8, int32(len(b.kept)))
	}
	k.damaged = int32(b.damage.Total)
	b.kept = append(b.kept, k)
}

// stage is what is done with one block at a time.
//
// measure sets b.long for a long line, of which b holds the first n bytes; no other block is
// read meanwhile. scan may run in parallel with other stages' scans. emit runs in the file's
// order, one at a time, and reports whether later blocks are wanted.
type stage interface {
	measure(b *block, n int) error
	scan(b *block)
	emit(b *block) (more bool, err error)
}

// pipeline runs the source from off through stages. Each worker reads and scans one block after
// another. The worker that finishes the next block in the file's order emits it, and those
// after it that are finished too. So no worker waits for another's block, only for a free one
// when too many are ahead.
func pipeline(ctx context.Context, src Source, off int64, workers int, newStage func() stage) error {
	r := &reader{src: src, off: off}
	return run(ctx, workers, func(s *slot) bool { return r.next(&s.block, s.stage) }, newStage)
}

// run is pipeline for blocks, or whatever else next puts into a slot and its stage, until next
// returns false. Several goroutines may call next at once.
func run(ctx context.Context, workers int, next func(*slot) bool, newStage func() stage) error {
	q := newQueue(workers, newStage)
	work := func() {
		for s := q.take(); s != nil; s = q.take() {
			if !next(s) {
				q.close()
				return
			}
			if s.err == nil {
				s.err = ctx.Err()
			}
			if s.err == nil {
				s.scan(&s.block)
			}
			q.put(s)
		}
	}

	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return q.err
}
