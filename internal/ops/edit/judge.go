package edit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"iter"
	"math"

	"stchat/internal/change/changeset"
	"stchat/internal/extension/luker"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/progress"
)

// changed is the effect of an edit on a message that it changes.
type changed struct {
	lineChange
	hidden, shown bool   // its is_system becomes true, or false
	swipe         int    // the chosen one, from 0
	swiped        bool   // swipe differs from before
	extra         []byte // its extra, if noted
	noted         bool   // its operations on Luker's variables differ
}

// judge makes the edits of messages to see what they change, and leaves in the plan only the
// messages that they change. It keeps nothing else of the edits: they come after the header, which
// cannot be written before all is known, and are made again then.
func (d *drafting) judge(ctx context.Context) error {
	if len(d.plan.Change) == 0 {
		return nil
	}
	edits := d.plan.Edits(ctx)
	jobs := func(yield func(lineChange) bool) {
		for _, at := range d.plan.Change {
			if !yield(lineChange{place: at, edit: edits(at)}) {
				return
			}
		}
	}
	left := d.plan.Change[:0] // what is written there was read before
	err := jsonl.Pick(ctx, d.chat.Source, jobs, lineChange.read,
		func(e lineChange, line []byte, batch *[]changed) error {
			edited, err := d.edited(ctx, e.place.Index, e.edit, line)
			if err != nil || bytes.Equal(line, edited) {
				return err
			}
			if damage := jsonl.Check(edited); damage != nil {
				return d.chat.Errorf("message %d would be damaged: %s", e.place.Index, damage.Reason)
			}
			c := compared(line, edited)
			c.lineChange = e
			*batch = append(*batch, c)
			return nil
		},
		func(batch *[]changed) error {
			for i := range *batch {
				left = append(left, (*batch)[i].place)
				if err := d.record(ctx, &(*batch)[i]); err != nil {
					return err
				}
			}
			return nil
		})
	d.plan.Change = left
	return err
}

// edited returns a message with an edit made.
func (d *drafting) edited(ctx context.Context, index int, edit Edit, line []byte) ([]byte, error) {
	edited, err := interruptible(ctx, len(line), func() ([]byte, error) { return edit(line) })
	if err != nil {
		return nil, d.chat.Errorf("message %d: %w", index, err)
	}
	return withoutGeneration(d.open, line, edited), nil
}

// interruptible returns what a pure function of so many bytes returns. If there are many, it
// ends with the context, and leaves the function to itself.
func interruptible(ctx context.Context, size int, do func() ([]byte, error)) ([]byte, error) {
	const many = 16 << 10 // fewer take far less than a second
	if size < many {
		return do()
	}
	return progress.Until(ctx, do)
}

// record records the effect of an edit.
func (d *drafting) record(ctx context.Context, c *changed) error {
	at := c.place.Index
	d.result.Doc.Changed = append(d.result.Doc.Changed, at)
	if d.showsMore() {
		line, err := d.chat.Source.Section(c.place.Off, c.place.Len)
		if err != nil {
			return d.chat.Errorf("%w", err)
		}
		edited, err := d.edited(ctx, at, c.edit, line)
		if err != nil {
			return err
		}
		d.result.diff(at, line, edited)
	}
	switch {
	case c.hidden:
		d.change.Hidden = append(d.change.Hidden, at)
	case c.shown:
		d.change.Shown = append(d.change.Shown, at)
	}
	if c.swiped {
		d.swiped[at] = c.swipe
	}
	if c.noted {
		d.change.Edited[at] = c.extra
	}
	return nil
}

// compared returns what differs between two states of a message and matters to other state.
func compared(old, edited []byte) (c changed) {
	var was, is [3]rawjson.Span
	rawjson.Places(old, was[:], "is_system", "swipe_id", "extra")
	rawjson.Places(edited, is[:], "is_system", "swipe_id", "extra")
	values := func(i int) (before, after []byte) { return old[was[i].At:was[i].End], edited[is[i].At:is[i].End] }
	before, after := values(0)
	hidden, hides := rawjson.Truthy(before), rawjson.Truthy(after)
	c.hidden, c.shown = !hidden && hides, hidden && !hides
	if before, after = values(1); !bytes.Equal(before, after) {
		c.swipe = luker.Swipe(after)
		c.swiped = luker.Swipe(before) != c.swipe
	}
	if before, after = values(2); !bytes.Equal(before, after) {
		if c.noted = !bytes.Equal(rawjson.Value(before, luker.KeyOperations), rawjson.Value(after, luker.KeyOperations)); c.noted {
			c.extra = bytes.Clone(after)
		}
	}
	return c
}

// lineChange is all that happens to one line.
type lineChange struct {
	place   choose.Place
	header  []byte // the new header
	edit    Edit   // nil: none
	follows bool   // something in it follows what happens to others
	gone    bool
	after   [][]byte // new lines behind it
}

// read returns which bytes are needed to make the change.
func (c lineChange) read() jsonl.Picked {
	if c.gone || c.edit == nil && !c.follows {
		return jsonl.Picked{}
	}
	return jsonl.Picked{Off: c.place.Off, Len: c.place.Len}
}

// errStop ends a pass whose lines are no longer wanted.
var errStop = errors.New("stop")

// render writes the chat with all changes; header is the new header, nil if it stays.
func (d *drafting) render(ctx context.Context, dst io.Writer, header []byte) error {
	return jsonl.Rewrite(ctx, dst, d.chat.Source, func(yield func(jsonl.Edit, error) bool) {
		err := jsonl.Pick(ctx, d.chat.Source, d.lines(ctx, header), lineChange.read,
			func(c lineChange, line []byte, batch *[]jsonl.Edit) error { return d.renderLine(ctx, c, line, batch) },
			func(batch *[]jsonl.Edit) error {
				for _, e := range *batch {
					if !yield(e, nil) {
						return errStop
					}
				}
				return nil
			})
		if err != nil && !errors.Is(err, errStop) {
			yield(jsonl.Edit{}, err)
		}
	})
}

// renderLine adds the changes of one line to a batch.
func (d *drafting) renderLine(ctx context.Context, c lineChange, line []byte, batch *[]jsonl.Edit) (err error) {
	e := jsonl.Edit{Splice: rawjson.Splice{At: c.place.Off, Len: c.place.Len, Data: c.header}, Gone: c.gone, After: c.after}
	if c.edit != nil || c.follows {
		e.Data = line
		if c.edit != nil {
			if e.Data, err = d.edited(ctx, c.place.Index, c.edit, line); err != nil {
				return err
			}
		}
		if d.state != nil {
			e.Data = d.state.Line(c.place.Index, e.Data)
		}
		if bytes.Equal(line, e.Data) {
			e.Data = nil
		}
	}
	if e.Data == nil && !e.Gone { // only insert after it
		e.At, e.Len = e.At+e.Len, 0
	}
	if e.Gone || e.Data != nil || e.After != nil {
		*batch = append(*batch, e)
	}
	return nil
}

// lines yields what happens to lines, in the chat's order.
func (d *drafting) lines(ctx context.Context, header []byte) iter.Seq[lineChange] {
	return func(yield func(lineChange) bool) {
		first := choose.Place{Index: chat.HeaderIndex, Off: d.chat.HeaderPlace.Off, Len: d.chat.HeaderPlace.Len}
		// those with a new header, those that are edited, follow or go
		lists := [4][]choose.Place{1: d.plan.Change, 3: d.plan.Delete}
		if header != nil {
			lists[0] = []choose.Place{first}
		}
		var edits func(at choose.Place) Edit
		if len(lists[1]) > 0 {
			edits = d.plan.Edits(ctx)
		}
		if d.state != nil {
			lists[2] = d.state.Lines()
		}
		for add := d.plan.Add; ; {
			c := lineChange{place: choose.Place{Index: math.MaxInt}}
			if len(add) > 0 {
				switch c.place = add[0].After; add[0].At {
				case 0:
					c.place = first
				case d.messages:
					c.place = d.last
				}
			}
			for _, list := range lists {
				if len(list) > 0 && list[0].Index < c.place.Index {
					c.place = list[0]
				}
			}
			if c.place.Index == math.MaxInt {
				return
			}
			var is [len(lists)]bool
			for i := range lists {
				if is[i] = len(lists[i]) > 0 && lists[i][0].Index == c.place.Index; is[i] {
					lists[i] = lists[i][1:]
				}
			}
			if c.follows, c.gone = is[2], is[3]; is[0] {
				c.header = header
			}
			if is[1] {
				c.edit = edits(c.place)
			}
			for ; len(add) > 0 && add[0].At == c.place.Index+1; add = add[1:] {
				c.after = append(c.after, add[0].Line)
			}
			if !yield(c) {
				return
			}
		}
	}
}

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
