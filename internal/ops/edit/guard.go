package edit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"

	"stchat/internal/change/changeset"
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
	fresh := newStaying(d.plan.Guard, seed)
	old := newStaying(d.plan.Guard, seed)
	read := make(chan error, 1)
	go func() {
		_, err := io.CopyBuffer(old, io.NewSectionReader(d.chat.Source.R, 0, d.chat.Source.Size), make([]byte, 256<<10))
		read <- err
	}()
	err := d.render(ctx, io.MultiWriter(draft, fresh), header)
	failed := <-read
	if err == nil && failed != nil {
		err = d.chat.Errorf("%w", failed)
	}
	if err != nil {
		return err
	}
	for _, m := range []*staying{fresh, old} {
		_, _ = m.Write([]byte{'\n'}) // of a last line that has none
	}
	if old.lines != fresh.lines || old.sum.Sum64() != fresh.sum.Sum64() {
		return d.chat.Errorf("%w", ErrGuard)
	}
	return nil
}

// staying hashes what has to stay of the messages in lines that are written to it.
type staying struct {
	guard func(kept, line []byte) []byte // the plan's
	kept  []byte                         // what has to stay of the last line; its memory is used again
	lines int
	sum   maphash.Hash
	rest  []byte // a line that is not complete
}

func newStaying(guard func(kept, line []byte) []byte, seed maphash.Seed) *staying {
	m := &staying{guard: guard}
	m.sum.SetSeed(seed)
	return m
}

// line adds a line; the first is the header.
func (m *staying) line(line []byte) {
	m.lines++
	if m.lines == 1 {
		return
	}
	m.kept = m.guard(m.kept[:0], line)
	m.kept = binary.BigEndian.AppendUint64(m.kept, uint64(len(m.kept)))
	_, _ = m.sum.Write(m.kept) // never fails
}

// Write implements io.Writer for the bytes of a chat.
func (m *staying) Write(p []byte) (int, error) {
	n := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			m.rest = append(m.rest, p...)
			return n, nil
		}
		line := p[:end]
		if len(m.rest) > 0 {
			m.rest = append(m.rest, line...)
			line = m.rest
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 {
			m.line(line)
		}
		m.rest = m.rest[:0]
		p = p[end+1:]
	}
}
