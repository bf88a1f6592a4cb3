package chat

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
)

// Lines edits the header and messages of a chat, each line with its edits in their
// order; all other lines keep their bytes, line ends and order.
//
// It may be rendered from another state of the file than it was drafted from. A
// line is taken from its Place if its Hash matches there. Otherwise it is found by
// its index, and must still match the Hash.
type Lines []LineEdit

// LineEdit is one edit to the header or to a message.
type LineEdit struct {
	Index int         // of the message; [HeaderIndex] for the header
	Place jsonl.Place // where its line was; only Off and Len are used
	Hash  uint64      // [HashLine] of the line; 0: it may be any line

	// Do returns the edited line, without a line end. For a missing header it gets
	// nil, and what it returns becomes the first line. A nil Do removes the line.
	Do    func(line []byte) ([]byte, error)
	After [][]byte // new lines after the line, or in place of a removed one
}

// HeaderIndex is the index of the header.
const HeaderIndex = -1

// HashLine returns the hash by which a line is recognised; it is never 0.
func HashLine(line []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(line) // never fails
	return nonZero(h.Sum64())
}

func nonZero(hash uint64) uint64 { return max(hash, 1) }

// ErrConflict means that an edit changes a line that another one removes.
var ErrConflict = errors.New("one edit removes the line, another changes it")

// errBreaks means that an edit returned more than one line.
var errBreaks = errors.New("an edit would break the line in two")

// Join returns the edits of both, those of next after those of l.
func (l Lines) Join(next Lines) Lines { return slices.Concat(l, next) }

// Render writes the chat in old, which has size bytes, to dst with the edits made.
// The error wraps [jsonl.ErrChanged] if a line is no longer what it was.
func (l Lines) Render(ctx context.Context, dst io.Writer, old io.ReaderAt, size int64) error {
	src := jsonl.Source{R: old, Size: size}
	targets, err := l.targets(ctx, src)
	if err != nil {
		return err
	}
	return jsonl.Rewrite(ctx, dst, src, func(yield func(jsonl.Edit, error) bool) {
		for _, t := range targets {
			if e, err := t.edit(src); !yield(e, err) {
				return
			}
		}
	})
}

// targets returns the lines to edit, with their edits, in the file's order and
// located in src.
func (l Lines) targets(ctx context.Context, src jsonl.Source) ([]*target, error) {
	var list []*target
	byIndex := map[int]*target{}
	for _, e := range l {
		t := byIndex[e.Index]
		if t == nil {
			t = &target{index: e.Index, at: span{e.Place.Off, e.Place.Len}}
			byIndex[e.Index] = t
			list = append(list, t)
		}
		t.edits = append(t.edits, e)
	}

	slices.SortFunc(list, func(a, b *target) int { return cmp.Compare(a.index, b.index) })
	return list, locate(ctx, src, list)
}

// target is a line with all its edits.
type target struct {
	index  int
	at     span
	absent bool // there is no header; it goes to at
	edits  []LineEdit
}

// span is a stretch of the file, in bytes.
type span struct{ off, len int64 }

// errorf returns err as one about the line.
func (t *target) errorf(err error) error {
	if t.index == HeaderIndex {
		return fmt.Errorf("the header: %w", err)
	}
	return fmt.Errorf("message %d: %w", t.index, err)
}

// stands reports whether the message that the edits mean is at t.at. If an edit
// has no hash, it returns false.
func (t *target) stands(src jsonl.Source) (bool, error) {
	if slices.ContainsFunc(t.edits, func(e LineEdit) bool { return e.Hash == 0 }) {
		return false, nil
	}
	end := t.at.off + t.at.len
	if t.at.off < 0 || t.at.len < 0 || end > src.Size {
		return false, nil
	}
	for _, off := range []int64{t.at.off - 1, end} {
		if off < 0 || off == src.Size {
			continue // the file's start or end
		}
		b, err := src.Section(off, 1)
		if err != nil {
			return false, err
		}
		if b[0] != '\n' && (b[0] != '\r' || off != end) {
			return false, nil
		}
	}
	return t.same(src)
}

// same reports whether the line at t.at is the one that the edits mean.
func (t *target) same(src jsonl.Source) (bool, error) {
	h := fnv.New64a()
	n, err := io.Copy(h, io.NewSectionReader(src.R, t.at.off, t.at.len))
	sum := nonZero(h.Sum64())
	other := func(e LineEdit) bool { return e.Hash != 0 && e.Hash != sum }
	return n == t.at.len && !slices.ContainsFunc(t.edits, other), err
}

// edit returns the edits to the line as one.
func (t *target) edit(src jsonl.Source) (jsonl.Edit, error) {
	out := jsonl.Edit{Splice: rawjson.Splice{At: t.at.off, Len: t.at.len}}
	var line []byte
	var err error
	if !t.absent {
		if line, err = src.Section(t.at.off, t.at.len); err != nil {
			return out, t.errorf(err)
		}
	}

	for _, e := range t.edits {
		switch {
		case e.Do == nil:
			out.Gone = true
		case out.Gone:
			return out, t.errorf(ErrConflict)
		default:
			if line, err = e.Do(line); err != nil {
				return out, t.errorf(err)
			}
		}
		out.After = append(out.After, e.After...)
	}

	if bytes.IndexByte(line, '\n') >= 0 {
		return out, t.errorf(errBreaks)
	}

	out.Data = line
	if t.absent {
		t.front(src, &out)
	}
	return out, nil
}

// front turns an edit to a missing header into one that adds lines before the
// first.
func (t *target) front(src jsonl.Source, e *jsonl.Edit) {
	lines := e.After
	if e.Data != nil && !e.Gone {
		lines = append([][]byte{e.Data}, lines...)
	}
	e.Data = bytes.Join(lines, []byte{'\n'})
	if len(lines) > 0 && t.at.off < src.Size {
		e.Data = append(e.Data, '\n')
	}
	e.After = nil
	e.Gone = false
}

// locate finds the lines in src. The error wraps [jsonl.ErrChanged] if one is
// missing or is not what it was.
func locate(ctx context.Context, src jsonl.Source, targets []*target) error {
	if len(targets) == 0 {
		return nil
	}
	head, err := jsonl.ReadHead(ctx, src)
	if err != nil {
		return err
	}

	messages := targets
	if t := targets[0]; t.index == HeaderIndex {
		messages = targets[1:]
		t.at = span{off: head.Off}
		t.absent = !isHead(head)
		if !t.absent {
			t.at.len = int64(len(head.Line))
		}
		if ok, err := t.same(src); err != nil || !ok {
			return t.errorf(cmp.Or(err, jsonl.ErrChanged))
		}
	}

	for _, t := range messages {
		ok, err := t.stands(src)
		if err != nil {
			return t.errorf(err)
		}
		if !ok {
			return count(ctx, src, head, messages)
		}
	}
	return nil
}

func isHead(head jsonl.Head) bool { return head.Line != nil && meta.IsHeader(head.Line) }

// count finds messages by counting lines as SillyTavern does.
func count(ctx context.Context, src jsonl.Source, head jsonl.Head, messages []*target) error {
	opt := jsonl.MapOptions{From: head.Off, Limit: messages[len(messages)-1].index + 1, Keys: jsonl.NewKeys()}
	if isHead(head) {
		opt.From = head.Next
	}

	rest := messages
	work := func(l *jsonl.Line, spans *[]span) {
		if l.Damage == nil {
			*spans = append(*spans, span{l.Off, int64(len(l.Raw))})
		}
	}

	fold := func(spans *[]span, base jsonl.Base, _ jsonl.Damages) error {
		for len(rest) > 0 && rest[0].index < base.Index+len(*spans) {
			rest[0].at = (*spans)[rest[0].index-base.Index]
			rest = rest[1:]
		}
		return nil
	}

	reset := func(spans *[]span) { *spans = (*spans)[:0] }
	if err := jsonl.Map(ctx, src, opt, work, fold, reset); err != nil {
		return err
	}

	if len(rest) > 0 {
		return rest[0].errorf(jsonl.ErrChanged)
	}
	for _, t := range messages {
		if ok, err := t.same(src); err != nil || !ok {
			return t.errorf(cmp.Or(err, jsonl.ErrChanged))
		}
	}
	return nil
}
