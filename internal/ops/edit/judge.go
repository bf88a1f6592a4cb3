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
	place         choose.Place
	hidden, shown bool   // its is_system becomes true, or false
	swipe         int    // the chosen one, from 0
	swiped        bool   // that is another one
	operations    []byte // its extra.var_ops
	operated      bool   // these are others
	diff          *Diff
}

// change makes the edits to see which messages come out different, and leaves the others
// out of the plan. What the edits do to state is noted in change.
func (d *drafting) change(ctx context.Context, change *follow.Change) error {
	type job struct {
		place choose.Place
		edit  Edit
	}
	var shown atomic.Bool // enough is noted to be shown
	shown.Store(!d.open.opt.Changes.DryRun)
	jobs := func(yield func(job) bool) {
		if len(d.plan.Change) == 0 {
			return
		}
		edit := d.plan.Edits()
		for _, at := range d.plan.Change {
			if !yield(job{at, edit(at.Index)}) {
				return
			}
		}
	}
	kept := 0
	err := jsonl.Pick(ctx, d.open.chat.Source, jobs, func(j job) jsonl.Picked { return picked(j.place) },
		func(j job, line []byte, batch *[]changed) error {
			edited, err := j.edit(line)
			if err != nil {
				return d.open.errorf("message %d: %w", j.place.Index, err)
			}
			if bytes.Equal(line, edited) {
				return nil
			}
			if damage := jsonl.Check(edited); damage != nil {
				return d.open.errorf("message %d would be damaged: %s", j.place.Index, damage.Reason)
			}
			c := compared(line, edited)
			c.place = j.place
			if !shown.Load() && len(*batch) < shownDiffs {
				c.diff = newDiff(j.place.Index, line, edited)
			}
			*batch = append(*batch, c)
			return nil
		},
		func(batch *[]changed) error {
			for i := range *batch {
				c := &(*batch)[i]
				d.plan.Change[kept] = c.place
				kept++
				d.note(c, change)
			}
			shown.Store(shown.Load() || len(d.result.Diffs) >= shownDiffs)
			return nil
		})
	d.plan.Change = d.plan.Change[:kept]
	return err
}

// note takes in what became of a message.
func (d *drafting) note(c *changed, change *follow.Change) {
	at := c.place.Index
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
