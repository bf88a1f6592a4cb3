package edit

import (
	"bytes"
	"context"

	"stchat/internal/extension/luker"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
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
	changes := func(yield func(lineChange) bool) {
		for _, at := range d.plan.Change {
			if !yield(lineChange{place: at, edit: edits(at)}) {
				return
			}
		}
	}

	try := func(c lineChange, line []byte, batch *[]changed) error { return d.try(ctx, c, line, batch) }
	left := d.plan.Change[:0] // what is written there was read before
	keep := func(batch *[]changed) error {
		for i := range *batch {
			left = append(left, (*batch)[i].place)
			if err := d.record(ctx, &(*batch)[i]); err != nil {
				return err
			}
		}
		return nil
	}

	err := jsonl.Pick(ctx, d.chat.Source, changes, lineChange.needed, try, keep)
	d.plan.Change = left
	return err
}

// try makes the edit of a message to see what it changes, and adds that to a batch if it is anything.
func (d *drafting) try(ctx context.Context, e lineChange, line []byte, batch *[]changed) error {
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
	before := func(i int) []byte { return old[was[i].At:was[i].End] }
	after := func(i int) []byte { return edited[is[i].At:is[i].End] }

	wasHidden, isHidden := rawjson.Truthy(before(0)), rawjson.Truthy(after(0))
	c.hidden = isHidden && !wasHidden
	c.shown = wasHidden && !isHidden
	if !bytes.Equal(before(1), after(1)) {
		c.swipe = luker.Swipe(after(1))
		c.swiped = luker.Swipe(before(1)) != c.swipe
	}
	if !bytes.Equal(before(2), after(2)) {
		c.noted = !bytes.Equal(rawjson.Value(before(2), luker.KeyOperations), rawjson.Value(after(2), luker.KeyOperations))
	}
	if c.noted {
		c.extra = bytes.Clone(after(2))
	}
	return c
}
