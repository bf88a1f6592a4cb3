package jsonl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"stchat/internal/jsonl/rawjson"
)

// Edit is one change to a file of lines.
//
// A plain edit replaces bytes. With Gone or After, the bytes that it names must
// be whole lines, or end where a line ends, without the line's end.
type Edit struct {
	rawjson.Splice

	Gone  bool     // the line is removed; Data is ignored
	After [][]byte // new lines, without line ends, after the line or in its place
}

// Rewrite writes src to dst with the edits made. They must come in the order of
// their places and not overlap. There may be millions: each is made before the
// next one is asked for. An edit that comes with an error ends the rewrite with
// that error.
//
// With a line, its line end is removed too, or, if it is the last one and has
// none, that of the line before it. A new line has the line end of the line that
// it follows. After a last line without a line end it has none either, and an LF
// goes between. Every byte that no edit names stays.
//
// The error wraps [ErrChanged] if src became shorter meanwhile, or has no line
// where an edit names one. Memory does not depend on the file.
func Rewrite(ctx context.Context, dst io.Writer, src Source, edits iter.Seq2[Edit, error]) error {
	const more = 4 << 10 // what edits add to a small source
	w := &rewriter{ctx: ctx, src: src, dst: dst, small: bufio.NewWriterSize(dst, int(min(2*bigWrite, src.Size+more)))}
	for e, err := range edits {
		if err == nil {
			err = w.edit(&e)
		}
		if err != nil {
			return err
		}
	}
	return w.finish()
}

// bigWrite is the length from which on bytes are written from where they were read. Fewer are
// collected first.
const bigWrite = 64 << 10

// rewriter reads a source forwards and writes its edited form.
type rewriter struct {
	ctx context.Context
	src Source
	dst io.Writer

	at     int64   // how many bytes of the source are written or left out
	end    int64   // how many bytes of the source were read
	block  []byte  // what is read into
	window []byte  // the source's bytes from at to end; empty if at is beyond end
	held   []byte  // a line end not written yet: it may have to be removed
	room   [2]byte // holds held

	small *bufio.Writer // collects for dst
}

func (w *rewriter) edit(e *Edit) error {
	switch {
	case e.At < w.at || e.Len < 0:
		return fmt.Errorf("an edit at %d overlaps the one before it, which ends at %d", e.At, w.at)
	case e.At+e.Len > w.src.Size:
		return ErrChanged
	}
	if err := w.copy(e.At); err != nil {
		return err
	}
	w.skip(e.Len)
	if !e.Gone && e.After == nil {
		return w.write(e.Data)
	}
	end, err := w.lineEnd()
	if err != nil {
		return err
	}
	first, rest := e.Data, e.After
	switch {
	case !e.Gone:
	case len(rest) > 0:
		first, rest = rest[0], rest[1:]
	default:
		if !strings.HasSuffix(end, "\n") {
			w.held = nil // it was the last line: now the one before it is
		}
		w.skip(int64(len(end)))
		return nil
	}
	if err := w.write(first); err != nil {
		return err
	}
	between := []byte("\n")
	if end == "\r\n" {
		between = []byte(end)
	}
	for _, line := range rest {
		if err := errors.Join(w.write(between), w.write(line)); err != nil {
			return err
		}
	}
	return nil
}

// lineEnd returns the line end that comes next in the source, "" at its end. A CR
// at the source's end counts as one, too.
func (w *rewriter) lineEnd() (string, error) {
	var room [2]byte
	n := copy(room[:], w.window)
	if n < len(room) && w.at+int64(n) < w.src.Size { // the window may end between CR and LF
		var err error
		if n, err = w.src.readAt(room[:], w.at); err != nil {
			return "", err
		}
	}

	next := string(room[:n])
	switch {
	case strings.HasPrefix(next, "\n"):
		return "\n", nil
	case next == "\r\n", next == "\r", next == "":
		return next, nil
	}
	return "", ErrChanged // no line ends here
}

// fill reads the source from at on.
func (w *rewriter) fill() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.block == nil {
		// It begins in the middle of a page, as in makeRoom: what is written of it has often
		// moved by a few bytes.
		const before = 2 << 10
		w.block = make([]byte, before+min(w.src.blockLen(), w.src.Size))[before:]
	}

	n, err := w.src.readAt(w.block, w.at)
	w.window, w.end = w.block[:n], w.at+int64(n)
	return err
}

// copy writes the source, unchanged, up to an offset.
func (w *rewriter) copy(to int64) error {
	for w.at < to {
		if len(w.window) == 0 {
			if err := w.fill(); err != nil {
				return err
			}
		}
		n := min(int64(len(w.window)), to-w.at)
		if err := w.write(w.window[:n]); err != nil {
			return err
		}
		w.skip(n)
	}
	return nil
}

// skip leaves out n bytes of the source.
func (w *rewriter) skip(n int64) {
	w.window = w.window[min(n, int64(len(w.window))):]
	w.at += n
}

// write writes p, but holds back a line end at its end.
func (w *rewriter) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if string(w.held) == "\r" && p[0] == '\n' {
		w.held, p = append(w.held, '\n'), p[1:]
		if len(p) == 0 {
			return nil
		}
	}
	if err := w.put(w.held); err != nil {
		return err
	}
	keep := 0
	switch {
	case len(p) > 1 && p[len(p)-2] == '\r' && p[len(p)-1] == '\n':
		keep = 2
	case p[len(p)-1] == '\n', p[len(p)-1] == '\r':
		keep = 1
	}

	w.held = append(w.room[:0], p[len(p)-keep:]...)
	return w.put(p[:len(p)-keep])
}

// put writes p, or collects it if it is small.
func (w *rewriter) put(p []byte) error {
	if len(p) < bigWrite {
		_, err := w.small.Write(p)
		return err
	}
	if err := w.small.Flush(); err != nil {
		return err
	}
	_, err := w.dst.Write(p)
	return err
}

// finish writes what is left of the source.
func (w *rewriter) finish() error {
	if err := w.copy(w.src.Size); err != nil {
		return err
	}
	// what was left out at the end was not read: check that it is there
	if w.end < w.src.Size {
		if _, err := w.src.readAt(make([]byte, 1), w.src.Size-1); err != nil {
			return err
		}
	}
	if err := w.put(w.held); err != nil {
		return err
	}
	return w.small.Flush()
}
