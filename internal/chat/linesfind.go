package chat

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
)

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
	if out.Data = line; t.absent {
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
	e.After, e.Gone = nil, false
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
		t.at, t.absent = span{off: head.Off}, !isHead(head)
		if !t.absent {
			t.at.len = int64(len(head.Line))
		}
		if ok, err := t.same(src); err != nil || !ok {
			return t.errorf(cmp.Or(err, jsonl.ErrChanged))
		}
	}
	for _, t := range messages {
		if ok, err := t.stands(src); err != nil {
			return t.errorf(err)
		} else if !ok {
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
	err := jsonl.Map(ctx, src, opt,
		func(l *jsonl.Line, spans *[]span) {
			if l.Damage == nil {
				*spans = append(*spans, span{l.Off, int64(len(l.Raw))})
			}
		},
		func(spans *[]span, base jsonl.Base, _ jsonl.Damages) error {
			for len(rest) > 0 && rest[0].index < base.Index+len(*spans) {
				rest[0].at = (*spans)[rest[0].index-base.Index]
				rest = rest[1:]
			}
			return nil
		},
		func(spans *[]span) { *spans = (*spans)[:0] })
	if err != nil {
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
