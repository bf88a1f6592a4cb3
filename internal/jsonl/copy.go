package jsonl

import (
	"context"
	"io"
	"slices"
)

// CopyOptions select what of a source is copied.
type CopyOptions struct {
	From    int64 // where to begin: the start of a line
	Line    int   // physical lines before From
	Limit   int   // how many lines to keep; below 0: all
	Last    int   // how many of the last kept lines to return the places of; at most MaxLast
	Skip    bool  // leave damaged lines out instead of stopping at the first
	Workers int   // goroutines at most; 0: as many as processors

	// Progress, unless nil, is called with the offset reached in the source.
	Progress func(int64)
}

// MaxLast is how many places of last lines a copy remembers at most. A line
// further back from the end is found by counting the lines first.
const MaxLast = 10_000

// Place says where a kept line is.
type Place struct {
	Index int   // its number among the kept lines, from 0
	Line  int   // its physical line, from 1
	Off   int64 // its first byte in the source
	Len   int64 // its length, without the line's end
	Out   int64 // its first byte in what was written

	BadUTF8 bool // it has invalid UTF-8
}

// Copied is the result of a copy.
type Copied struct {
	Lines   int     // kept
	Bytes   int64   // written
	Last    []Place // the last kept lines, the earliest first
	Skipped Damages // left out
	BadUTF8 int     // kept lines with invalid UTF-8
	BadAt   int     // the index of the first of them
}

// Copy writes the surviving lines of src to dst, an LF before each one, and
// stops after Limit of them without looking at what follows. Every kept line is
// validated. The first damaged line ends the copy with a [*Damage] as the
// error, unless Skip is set. With a nil dst it only scans.
func Copy(ctx context.Context, dst io.Writer, src Source, opt CopyOptions) (Copied, error) {
	opt.Last = min(opt.Last, MaxLast)
	c := &copier{dst: dst, src: src, opt: opt}
	if opt.Limit == 0 {
		return c.Copied, nil
	}
	err := pipeline(ctx, src, opt.From, src.workers(opt.From, opt.Limit, opt.Workers), func() stage { return &copyStage{copier: c} })
	c.Last = slices.Concat(c.last[c.head:], c.last[:c.head])
	return c.Copied, err
}

// copier is what the stages of one copy share; only emit touches it.
type copier struct {
	Copied
	dst  io.Writer
	src  Source
	opt  CopyOptions
	last []Place // a ring
	head int     // its oldest place
}

func (c *copier) remember(p Place) {
	switch {
	case c.opt.Last == 0:
	case len(c.last) < c.opt.Last:
		c.last = append(c.last, p)
	default:
		c.last[c.head] = p
		c.head = (c.head + 1) % c.opt.Last
	}
}

type copyStage struct {
	copier *copier
	sc     scanner
}

// measure scans the long line at once, since it must be read anyway to find its
// end.
func (st *copyStage) measure(b *block, n int) error { return st.sc.scanLong(st.copier.src, b, n) }

func (st *copyStage) scan(b *block) {
	if b.long == 0 {
		st.sc.scanLines(b, true, nil)
	}
}

func (st *copyStage) emit(b *block) (more bool, err error) {
	c := st.copier
	keep := len(b.kept)
	if c.opt.Limit >= 0 {
		keep = min(keep, c.opt.Limit-c.Lines)
	}
	full := c.opt.Limit >= 0 && c.Lines+keep == c.opt.Limit
	damage := b.damageIn(keep, full, c.opt.Line+b.line, c.Lines)
	if damage.Total > 0 && !c.opt.Skip {
		return false, new(damage.First[0])
	}
	c.Skipped.Append(damage)
	bad, _ := slices.BinarySearch(b.badUTF8, int32(keep)) // bad lines among those kept
	if c.BadUTF8 == 0 && bad > 0 {
		c.BadAt = c.Lines + int(b.badUTF8[0])
	}
	c.BadUTF8 += bad
	for i := max(0, keep-c.opt.Last); i < keep; i++ {
		k := b.kept[i]
		_, isBad := slices.BinarySearch(b.badUTF8, int32(i))
		c.remember(Place{
			Index: c.Lines + i, Line: c.opt.Line + b.line + int(k.number) + 1,
			Off: b.off + int64(k.at), Len: k.len, Out: c.Bytes + int64(k.out), BadUTF8: isBad,
		})
	}

	if keep > 0 {
		if err := c.write(b, keep); err != nil {
			return false, err
		}
	}

	c.Lines += keep
	if c.opt.Progress != nil {
		c.opt.Progress(b.off + int64(len(b.data)) + b.long)
	}
	return !full, nil
}

// write writes the first keep lines of the block.
func (c *copier) write(b *block, keep int) error {
	last := b.kept[keep-1]
	size := int64(last.out) + last.len
	c.Bytes += size
	if c.dst == nil {
		return nil
	}
	if b.long == 0 {
		_, err := c.dst.Write(b.out[:size])
		return err
	}
	if _, err := c.dst.Write([]byte{'\n'}); err != nil {
		return err
	}
	room := b.buf[1:]
	for off, rest := b.off+int64(last.at), last.len; rest > 0; {
		n, err := c.src.readAt(room[:min(int64(len(room)), rest)], off)
		if err != nil {
			return err
		}
		if _, err := c.dst.Write(room[:n]); err != nil {
			return err
		}
		off, rest = off+int64(n), rest-int64(n)
	}
	return nil
}
