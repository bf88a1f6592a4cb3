package edit

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"

	"stchat/internal/choose"
	"stchat/internal/follow"
	"stchat/internal/jsonl"
	"stchat/internal/luker"
	"stchat/internal/rawjson"
)

// changed is the effect of an edit on a message that it changes.
type changed struct {
	index         int
	off           int64            // of the message, in the file
	splices       []rawjson.Splice // in the file
	hidden, shown bool             // its is_system becomes true, or false
	swipe         int              // the chosen one, from 0
	swiped        bool             // swipe differs from before
	operations    []byte           // its extra.var_ops
	operated      bool             // operations differ from before
	diff          *Diff
}

// editing is a message and the edit to make in it.
type editing struct {
	place choose.Place
	edit  Edit
}

// making makes the edits of messages and keeps the results aside: they come after the header,
// which cannot be written before all of them are known.
type making struct {
	open   *open
	plan   *Plan
	result *Result
	change *follow.Change // receives what the edits change in state

	made   *splices    // the edits of messages that stay
	shown  atomic.Bool // enough diffs are kept
	swiped map[int]int // the newly chosen swipe, by message, where it changes
}

// make makes all edits.
func (m *making) make(ctx context.Context) error {
	m.shown.Store(!m.open.opt.Changes.DryRun)
	if m.plan.Reword != nil {
		return m.reword(ctx)
	}
	m.result.Doc.Changed = slices.Grow(m.result.Doc.Changed, m.plan.Change.n)
	messages := func(yield func(editing) bool) {
		for at := range m.plan.Change.all() {
			if !yield(editing{at, m.plan.Edits(at.Index)}) {
				return
			}
		}
	}
	err := jsonl.Pick(ctx, m.open.chat.Source, messages, func(e editing) jsonl.Picked { return picked(e.place) },
		func(e editing, line []byte, batch *[]changed) error {
			c, err := m.changed(e, line)
			if err == nil {
				c.index = e.place.Index
				m.add(batch, &c, e.place.Off, line)
			}
			return err
		},
		func(batch *[]changed) error {
			for i := range *batch {
				if err := m.take(&(*batch)[i]); err != nil {
					return err
				}
			}
			return nil
		})
	m.plan.Change = places{} // made
	return err
}

// changed makes an edit. The splices returned count from the start of the line.
func (m *making) changed(e editing, line []byte) (c changed, err error) {
	if e.edit.Splices != nil {
		if list, ok := e.edit.Splices(line); ok {
			c.splices = list
			return c, nil
		}
	}
	edited, err := e.edit.Line(line)
	if err != nil {
		return c, m.open.errorf("message %d: %w", e.place.Index, err)
	}
	edited = withoutGeneration(m.open, line, edited)
	if bytes.Equal(line, edited) {
		return c, nil
	}
	if damage := jsonl.Check(edited); damage != nil {
		return c, m.open.errorf("message %d would be damaged: %s", e.place.Index, damage.Reason)
	}
	c = compared(line, edited)
	c.splices = []rawjson.Splice{changeOf(line, edited)}
	return c, nil
}

// add adds the effect of an edit, if it has one, to that of others. off is where the line begins
// in the file.
func (m *making) add(batch *[]changed, c *changed, off int64, line []byte) {
	if len(c.splices) == 0 {
		return
	}
	if !m.shown.Load() && len(*batch) < shownDiffs {
		c.diff = newDiff(c.index, line, rawjson.Splices(line, c.splices))
	}
	c.off = off
	for i := range c.splices {
		c.splices[i].At += off
	}
	*batch = append(*batch, *c)
}

// take keeps an edit and records its effect.
func (m *making) take(c *changed) error {
	for _, s := range c.splices {
		if err := m.made.put(s); err != nil {
			return err
		}
	}
	at := c.index
	m.result.Doc.Changed = append(m.result.Doc.Changed, at)
	if m.result.diff(c.diff); len(m.result.Diffs) >= shownDiffs {
		m.shown.Store(true)
	}
	switch {
	case c.hidden:
		m.change.Hidden = append(m.change.Hidden, at)
	case c.shown:
		m.change.Shown = append(m.change.Shown, at)
	}
	if c.swiped {
		if m.swiped == nil {
			m.swiped = map[int]int{}
		}
		m.swiped[at] = c.swipe
	}
	if c.operated {
		if m.change.Operations == nil {
			m.change.Operations = map[int][]byte{}
		}
		m.change.Operations[at] = c.operations
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
		before = rawjson.Value(before, "var_ops")
		after = rawjson.Value(after, "var_ops")
		if c.operated = !bytes.Equal(before, after); c.operated {
			c.operations = bytes.Clone(after)
		}
	}
	return c
}

func picked(at choose.Place) jsonl.Picked { return jsonl.Picked{Off: at.Off, Len: at.Len} }
