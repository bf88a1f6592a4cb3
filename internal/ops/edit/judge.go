package edit

import (
	"bytes"
	"context"
	"sync/atomic"

	"stchat/internal/choose"
	"stchat/internal/follow"
	"stchat/internal/jsonl"
	"stchat/internal/luker"
	"stchat/internal/rawjson"
)

// changed is what an edit makes of a message, where that is something else.
type changed struct {
	index         int
	splices       []rawjson.Splice // in the file
	hidden, shown bool             // its is_system becomes true, or false
	swipe         int              // the chosen one, from 0
	swiped        bool             // that is another one
	operations    []byte           // its extra.var_ops
	operated      bool             // these are others
	diff          *Diff
}

// editing is a message on its way through its edit.
type editing struct {
	place choose.Place
	edit  Edit
}

// change makes the edits, and keeps what comes of them: it stands behind the header, which
// cannot be written before all of it is known. What the edits do to state is noted in change.
func (d *drafting) change(ctx context.Context, change *follow.Change) error {
	var shown atomic.Bool // enough is noted to be shown
	shown.Store(!d.open.opt.Changes.DryRun)
	messages := func(yield func(editing) bool) {
		for _, at := range d.plan.Change {
			e := editing{place: at}
			if d.plan.Texts == nil {
				e.edit = d.plan.Edits(at.Index)
			}
			if !yield(e) {
				return
			}
		}
	}
	err := jsonl.Pick(ctx, d.open.chat.Source, messages, func(e editing) jsonl.Picked { return picked(e.place) },
		func(e editing, line []byte, batch *[]changed) error {
			c, err := d.changed(e, line)
			if err != nil || len(c.splices) == 0 {
				return err
			}
			c.index = e.place.Index
			if !shown.Load() && len(*batch) < shownDiffs {
				c.diff = newDiff(c.index, line, rawjson.Splices(line, c.splices))
			}
			for i := range c.splices {
				c.splices[i].At += e.place.Off
			}
			*batch = append(*batch, c)
			return nil
		},
		func(batch *[]changed) error {
			for i := range *batch {
				c := &(*batch)[i]
				for _, s := range c.splices {
					if err := d.made.put(s); err != nil {
						return err
					}
				}
				d.note(c, change)
			}
			shown.Store(shown.Load() || len(d.result.Diffs) >= shownDiffs)
			return nil
		})
	d.plan.Change = nil // made
	return err
}

// changed makes an edit. The splices are those of the line.
func (d *drafting) changed(e editing, line []byte) (c changed, err error) {
	if d.plan.Texts != nil {
		c.splices = d.plan.Texts(line)
		if len(c.splices) == 0 {
			return c, nil
		}
		if damage := jsonl.Check(c.splices[0].Data); damage != nil { // the text of all
			return c, d.open.errorf("message %d would be damaged: %s", e.place.Index, damage.Reason)
		}
		return c, nil
	}
	edited, err := e.edit(line)
	if err != nil {
		return c, d.open.errorf("message %d: %w", e.place.Index, err)
	}
	if bytes.Equal(line, edited) {
		return c, nil
	}
	if damage := jsonl.Check(edited); damage != nil {
		return c, d.open.errorf("message %d would be damaged: %s", e.place.Index, damage.Reason)
	}
	c = compared(line, edited)
	c.splices = []rawjson.Splice{changeOf(line, edited)}
	return c, nil
}

// note takes in what became of a message.
func (d *drafting) note(c *changed, change *follow.Change) {
	at := c.index
	d.result.Doc.Changed = append(d.result.Doc.Changed, at)
	d.result.diff(c.diff)
	switch {
	case c.hidden:
		change.Hidden = append(change.Hidden, at)
	case c.shown:
		change.Shown = append(change.Shown, at)
	}
	if c.swiped {
		if d.swiped == nil {
			d.swiped = map[int]int{}
		}
		d.swiped[at] = c.swipe
	}
	if c.operated {
		if change.Operations == nil {
			change.Operations = map[int][]byte{}
		}
		change.Operations[at] = c.operations
	}
}

// compared says in what two states of a message differ that matters to other state.
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
		before, _ = rawjson.Lookup(before, "var_ops")
		after, _ = rawjson.Lookup(after, "var_ops")
		if c.operated = !bytes.Equal(before, after); c.operated {
			c.operations = bytes.Clone(after)
		}
	}
	return c
}

func picked(at choose.Place) jsonl.Picked { return jsonl.Picked{Off: at.Off, Len: at.Len} }
