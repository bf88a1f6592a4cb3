package edit

import (
	"bytes"
	"context"
	"iter"
	"sync/atomic"

	"stchat/internal/choose"
	"stchat/internal/extension/luker"
	"stchat/internal/follow"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// changed is the effect of an edit on a message that it changes.
type changed struct {
	place         choose.Place
	grown         int    // bytes added, less bytes removed
	hidden, shown bool   // its is_system becomes true, or false
	swipe         int    // the chosen one, from 0
	swiped        bool   // swipe differs from before
	operations    []byte // its extra.var_ops
	operated      bool   // operations differ from before
	diff          *Diff
}

// editing is a message and what happens to it.
type editing struct {
	place choose.Place
	edit  Edit // nil: none
}

// judging makes the edits of messages to see what they change, and keeps nothing of them: they
// come after the header, which cannot be written before all is known, and are made again then.
type judging struct {
	open   *open
	plan   *Plan
	result *Result
	change *follow.Change // receives what the edits change in state

	grown  int64
	shown  atomic.Bool // enough diffs are kept
	swiped map[int]int // the newly chosen swipe, by message, where it changes
}

// judge makes all edits, and leaves in the plan only the messages that they change.
func (j *judging) judge(ctx context.Context) error {
	j.shown.Store(!j.open.opt.Changes.DryRun)
	if len(j.plan.Change) == 0 {
		return nil
	}
	var left []choose.Place
	err := jsonl.Pick(ctx, j.open.chat.Source, j.plan.editings(), func(e editing) jsonl.Picked { return picked(e.place) },
		func(e editing, line []byte, batch *[]changed) error {
			edited, err := edited(j.open, e, line)
			if err != nil || bytes.Equal(line, edited) {
				return err
			}
			c := compared(line, edited)
			c.place, c.grown = e.place, len(edited)-len(line)
			if !j.shown.Load() && len(*batch) < shownDiffs {
				c.diff = newDiff(e.place.Index, line, edited)
			}
			*batch = append(*batch, c)
			return nil
		},
		func(batch *[]changed) error {
			for i := range *batch {
				j.take(&(*batch)[i])
				left = append(left, (*batch)[i].place)
			}
			return nil
		})
	j.plan.Change = left
	return err
}

// editings yields the messages that may change, with their edits.
func (p *Plan) editings() iter.Seq[editing] {
	return func(yield func(editing) bool) {
		if len(p.Change) == 0 {
			return
		}
		edits := p.Edits()
		for _, at := range p.Change {
			if !yield(editing{at, edits(at.Index)}) {
				return
			}
		}
	}
}

// edited returns a message with its edit made.
func edited(o *open, e editing, line []byte) ([]byte, error) {
	edited, err := e.edit(line)
	if err != nil {
		return nil, o.errorf("message %d: %w", e.place.Index, err)
	}
	if edited = withoutGeneration(o, line, edited); bytes.Equal(line, edited) {
		return line, nil
	}
	if damage := jsonl.Check(edited); damage != nil {
		return nil, o.errorf("message %d would be damaged: %s", e.place.Index, damage.Reason)
	}
	return edited, nil
}

// take records the effect of an edit.
func (j *judging) take(c *changed) {
	at := c.place.Index
	j.grown += int64(c.grown)
	j.result.Doc.Changed = append(j.result.Doc.Changed, at)
	if j.result.diff(c.diff); len(j.result.Diffs) >= shownDiffs {
		j.shown.Store(true)
	}
	switch {
	case c.hidden:
		j.change.Hidden = append(j.change.Hidden, at)
	case c.shown:
		j.change.Shown = append(j.change.Shown, at)
	}
	if c.swiped {
		if j.swiped == nil {
			j.swiped = map[int]int{}
		}
		j.swiped[at] = c.swipe
	}
	if c.operated {
		if j.change.Operations == nil {
			j.change.Operations = map[int][]byte{}
		}
		j.change.Operations[at] = c.operations
	}
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
		before = rawjson.Value(before, "var_ops")
		after = rawjson.Value(after, "var_ops")
		if c.operated = !bytes.Equal(before, after); c.operated {
			c.operations = bytes.Clone(after)
		}
	}
	return c
}

func picked(at choose.Place) jsonl.Picked { return jsonl.Picked{Off: at.Off, Len: at.Len} }
