package edit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"

	"stchat/internal/changeset"
)

// ErrGuard means that the new bytes would lack something that has to stay.
var ErrGuard = errors.New("the new file would lack something that has to stay, so nothing is written; this is a defect of stchat")

// guarded renders the chat. If the plan has a guard, it reads the new bytes as they are written,
// and compares what of each message has to stay with what the chat has.
func (d *drafting) guarded(ctx context.Context, draft *changeset.Draft, header []byte) error {
	if d.plan.Guard == nil {
		return d.render(ctx, draft, header)
	}
	seed, c := maphash.MakeSeed(), d.chat
	fresh, old := newMarks(d.plan.Guard, seed), newMarks(d.plan.Guard, seed)
	read := make(chan error, 1)
	go func() {
		_, err := io.CopyBuffer(old, io.NewSectionReader(c.Source.R, 0, c.Source.Size), make([]byte, 256<<10))
		read <- err
	}()
	err := d.render(ctx, io.MultiWriter(draft, fresh), header)
	if failed := <-read; err == nil && failed != nil {
		err = d.chat.Errorf("%w", failed)
	}
	if err != nil {
		return err
	}
	for _, m := range []*marks{fresh, old} {
		_, _ = m.Write([]byte{'\n'}) // of a last line that has none
	}
	if old.lines != fresh.lines || old.sum.Sum64() != fresh.sum.Sum64() {
		return d.chat.Errorf("%w", ErrGuard)
	}
	return nil
}

// marks hashes what has to stay of the messages in lines that are written to it.
type marks struct {
	of    func(mark, line []byte) []byte
	mark  []byte // of the last line
	lines int
	sum   maphash.Hash
	rest  []byte // a line that is not complete
}

func newMarks(of func(mark, line []byte) []byte, seed maphash.Seed) *marks {
	m := &marks{of: of}
	m.sum.SetSeed(seed)
	return m
}

// line adds a line; the first is the header.
func (m *marks) line(line []byte) {
	if m.lines++; m.lines == 1 {
		return
	}
	m.mark = m.of(m.mark[:0], line)
	m.mark = binary.BigEndian.AppendUint64(m.mark, uint64(len(m.mark)))
	_, _ = m.sum.Write(m.mark) // never fails
}

// Write implements io.Writer for the bytes of a chat.
func (m *marks) Write(p []byte) (int, error) {
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
		if line = bytes.TrimSpace(line); len(line) > 0 {
			m.line(line)
		}
		m.rest, p = m.rest[:0], p[end+1:]
	}
}
