package edit

import (
	"bytes"
	"context"
	"sync/atomic"

	"stchat/internal/choose"
	"stchat/internal/extension/luker"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// changed is the effect of an edit on a message that it changes.
type changed struct {
	place         choose.Place
	hidden, shown bool   // its is_system becomes true, or false
	swipe         int    // the chosen one, from 0
	swiped        bool   // swipe differs from before
	extra         []byte // its extra, if noted
	noted         bool   // its operations on Luker's variables differ
	diff          *Diff
}

// judging makes the edits of messages to see what they change, and keeps nothing else of them:
// they come after the header, which cannot be written before all is known, and are made again
// then.
type judging struct {
	*drafting
	enough atomic.Bool // diffs are kept
}

// judge makes all edits, and leaves in the plan only the messages that they change.
func (j *judging) judge(ctx context.Context) error {
	if len(j.plan.Change) == 0 {
		return nil
	}
	j.enough.Store(!j.open.opt.Changes.DryRun)
	edits := j.plan.Edits(ctx)
	jobs := func(yield func(lineChange) bool) {
		for _, at := range j.plan.Change {
			if !yield(lineChange{place: at, edit: edits(at.Index)}) {
				return
			}
		}
	}
	left := j.plan.Change[:0] // what is written there was read before
	err := jsonl.Pick(ctx, j.open.chat.Source, jobs, lineChange.read,
		func(e lineChange, line []byte, batch *[]changed) error {
			edited, err := j.edited(ctx, e.place.Index, e.edit, line)
			if err != nil || bytes.Equal(line, edited) {
				return err
			}
			if damage := jsonl.Check(edited); damage != nil {
				return j.open.errorf("message %d would be damaged: %s", e.place.Index, damage.Reason)
			}
			var c changed
			if !j.plan.OnlyTexts {
				c = compared(line, edited)
			}
			if c.place = e.place; !j.enough.Load() && len(*batch) < shownDiffs {
				c.diff = newDiff(e.place.Index, line, edited)
			}
			*batch = append(*batch, c)
			return nil
		},
		func(batch *[]changed) error {
			for i := range *batch {
				j.record(&(*batch)[i])
				left = append(left, (*batch)[i].place)
			}
			return nil
		})
	j.plan.Change = left
	return err
}

// edited returns a message with an edit made.
func (d *drafting) edited(ctx context.Context, index int, edit Edit, line []byte) ([]byte, error) {
	edited, err := interruptible(ctx, len(line), func() ([]byte, error) { return edit(line) })
	if err != nil {
		return nil, d.open.errorf("message %d: %w", index, err)
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
	type outcome struct {
		edited []byte
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		edited, err := do()
		done <- outcome{edited, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o := <-done:
		return o.edited, o.err
	}
}

// record records the effect of an edit.
func (j *judging) record(c *changed) {
	at := c.place.Index
	j.result.Doc.Changed = append(j.result.Doc.Changed, at)
	if j.result.diff(c.diff); len(j.result.Diffs) >= shownDiffs {
		j.enough.Store(true)
	}
	switch {
	case c.hidden:
		j.change.Hidden = append(j.change.Hidden, at)
	case c.shown:
		j.change.Shown = append(j.change.Shown, at)
	}
	if c.swiped {
		j.swiped[at] = c.swipe
	}
	if c.noted {
		j.change.Edited[at] = c.extra
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
		if c.noted = !bytes.Equal(rawjson.Value(before, luker.KeyOperations), rawjson.Value(after, luker.KeyOperations)); c.noted {
			c.extra = bytes.Clone(after)
		}
	}
	return c
}
