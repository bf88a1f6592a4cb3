package edit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"

	"stchat/internal/changeset"
	"stchat/internal/jsonl"
)

// ErrGuard means that the new bytes would lack something that has to stay.
var ErrGuard = errors.New("the new file would lack something that has to stay, so nothing is written; this is a defect of stchat")

// guarded renders the chat. If the plan has a guard, it reads the new bytes as they are written,
// and compares what of each message has to stay with what the chat has.
func (d *drafting) guarded(ctx context.Context, draft *changeset.Draft, header []byte) error {
	if d.plan.Guard == nil {
		return d.render(ctx, draft, header)
	}
	seed := maphash.MakeSeed()
	fresh := newMarks(d.plan.Guard, seed)
	if err := d.render(ctx, io.MultiWriter(draft, fresh), header); err != nil {
		return err
	}
	fresh.end()
	old, c := newMarks(d.plan.Guard, seed), d.open.chat
	old.line(nil) // the header
	err := jsonl.Each(ctx, c.Source, jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Limit: -1, Keys: jsonl.NewKeys()}, func(l *jsonl.Line, _ jsonl.Base) error {
		old.line(l.Raw)
		return nil
	})
	if err != nil {
		return d.open.errorf("%w", err)
	}
	if old.lines != fresh.lines || old.sum.Sum64() != fresh.sum.Sum64() {
		return d.open.errorf("%w", ErrGuard)
	}
	return nil
}

// marks hashes what has to stay of the messages in lines.
type marks struct {
	of    func(line []byte) []byte
	lines int
	sum   maphash.Hash
	rest  []byte // a line that is not complete
}

func newMarks(of func(line []byte) []byte, seed maphash.Seed) *marks {
	m := &marks{of: of}
	m.sum.SetSeed(seed)
	return m
}

// line adds a line; the first is the header.
func (m *marks) line(line []byte) {
	if m.lines++; m.lines == 1 {
		return
	}
	mark := m.of(line)
	_, _ = m.sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(mark)))) // never fails
	_, _ = m.sum.Write(mark)
}

// Write implements io.Writer for the bytes of a chat.
func (m *marks) Write(p []byte) (int, error) {
	m.rest = append(m.rest, p...)
	for {
		line, rest, ok := bytes.Cut(m.rest, []byte{'\n'})
		if !ok {
			return len(p), nil
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			m.line(line)
		}
		m.rest = rest
	}
}

// end adds the last line, which has no line end.
func (m *marks) end() {
	if line := bytes.TrimSpace(m.rest); len(line) > 0 {
		m.line(line)
	}
	m.rest = nil
}
