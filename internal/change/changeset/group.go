package changeset

import (
	"cmp"
	"context"
	"slices"
)

// How much is committed with one journal.
const (
	groupUnits = 64
	groupBytes = 64 << 20 // of drafts
)

// group is drafted batches that wait to be committed with others: one journal for all of them. If one
// fails, the others are committed without it. What takes names away is committed by itself: it may not
// be possible to take it back, if another program uses the name.
type group struct {
	batches []*batch
	units   int
	bytes   int64
}

// ready takes a batch that has been drafted, and returns those that are to be committed together and
// are complete.
func (c *call) ready(b *batch) []*batch {
	isRecorded := false
	takesNames := false // away
	bytes := int64(0)
	for _, i := range b.units {
		s := c.sets[i]
		if s.isRecorded(&c.units[i]) {
			isRecorded = true
		}
		for _, p := range s.plans {
			bytes += p.Bytes
			if p.Do != Create && p.Do != Replace {
				takesNames = true
			}
		}
	}

	b.grouped = true
	isAll := len(b.units) == len(c.units)
	if isAll || takesNames || !isRecorded {
		return []*batch{b}
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	g := &c.waiting
	g.batches = append(g.batches, b)
	g.units += len(b.units)
	g.bytes += bytes
	if g.units < cmp.Or(c.group, groupUnits) && g.bytes < groupBytes {
		return nil
	}
	full := g.batches
	*g = group{}
	return full
}

// rest returns the batches that wait for others, and those of which not all units were drafted.
func (c *call) rest() []*batch {
	list := c.waiting.batches
	for _, b := range c.batchOf {
		if !b.grouped {
			b.grouped = true
			list = append(list, b)
		}
	}
	return list
}

// prepare makes commitments of batches, of those of one root together. What needs no record is made at
// once, the others when their root's turn comes.
func (c *call) prepare(ctx context.Context, batches []*batch) {
	for _, r := range c.Call.roots {
		of := slices.DeleteFunc(slices.Clone(batches), func(b *batch) bool { return b.root != r })
		if len(of) == 0 {
			continue
		}
		for _, t := range c.join(ctx, of) {
			if !t.isRecorded() {
				c.commit(ctx, t)
				continue
			}
			c.mu.Lock()
			c.drafted = append(c.drafted, t)
			c.mu.Unlock()
		}
	}
}

// join makes one commitment of batches of one root; several where they do not go together.
func (c *call) join(ctx context.Context, batches []*batch) []*commitment {
	t := &commitment{call: c, root: batches[0].root, batches: batches}
	for _, b := range batches {
		for _, i := range b.units {
			if c.sets[i] != nil && c.outcomes[i].Err == nil {
				t.units = append(t.units, i)
			}
		}
	}

	err := t.join(ctx)
	if err == nil {
		return []*commitment{t}
	}
	t.discard()
	if len(batches) == 1 {
		t.end(err)
		return nil
	}
	half := len(batches) / 2
	return append(c.join(ctx, batches[:half]), c.join(ctx, batches[half:])...)
}

// commit gives the drafts of a commitment their names, all or none of each batch.
func (c *call) commit(ctx context.Context, t *commitment) {
	err := t.run(ctx)
	t.discard()
	if err == nil || len(t.batches) == 1 || t.over {
		t.end(err)
		return
	}
	half := len(t.batches) / 2
	for _, some := range [][]*batch{t.batches[:half], t.batches[half:]} {
		for _, part := range c.join(ctx, some) {
			c.commit(ctx, part)
		}
	}
}

// end notes what became of the units; err is why nothing was made.
func (t *commitment) end(err error) {
	c := t.call
	steps := t.stepsByUnit()
	for _, i := range t.units {
		o := &c.outcomes[i]
		switch {
		case o.Err != nil: // it was dropped
		case t.failed[c.batchOf[i].number] != nil:
			o.Err = t.failed[c.batchOf[i].number]
		case err != nil:
			o.Err = err
		default:
			o.Steps = append([]Step{}, steps[i]...)
			if len(o.Steps) > 0 {
				o.ID = t.id
			}
		}

		c.sets[i].discard()
		*c.sets[i] = Set{} // thousands of them would be held until the end
	}
}

// stepsByUnit returns the steps. One that several units share is listed for each of them.
func (t *commitment) stepsByUnit() map[int][]Step {
	steps := map[int][]Step{}
	for _, p := range t.plans {
		if len(p.edits) == 0 {
			steps[p.unit] = append(steps[p.unit], p.Step)
		}
		for i, e := range p.edits {
			if i > 0 && p.edits[i-1].unit == e.unit {
				continue
			}
			step := e.Step
			step.Bytes, step.Kept = p.Bytes, p.Kept
			steps[e.unit] = append(steps[e.unit], step)
		}
	}
	return steps
}
