package changeset

import (
	"context"
	"time"
)

// draftAgain drafts and commits anew the units that failed since others changed a file, and whose
// drafts can be made from what stands there now. That is done under the root's lock, so of many
// runs side by side all succeed, one after the other. What takes no locks, such as SillyTavern,
// may come between; then it is done again.
func (c *call) draftAgain(ctx context.Context) {
	for i, u := range c.units {
		if u.Again == nil || c.sets[i] == nil || c.outcomes[i].Err == nil || !u.Again(c.outcomes[i].Err) {
			continue
		}
		if err := c.draftUnderLock(ctx, i); err != nil {
			c.outcomes[i].Err = err
		}
	}
}

func (c *call) draftUnderLock(ctx context.Context, i int) error {
	r, o := c.roots[c.units[i].Root], &c.outcomes[i]
	unlock, held, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	r.mine, r.held = true, held
	defer func() { r.mine = false }()
	for try := range tries {
		time.Sleep(time.Duration(try) * time.Millisecond)
		b := &batch{root: r, number: len(c.units) + i + 1, units: []int{i}, committed: true}
		c.batchOf[i], *o = b, Outcome{Ended: o.Ended}
		if c.draft(ctx, i); o.Err == nil {
			c.commit(ctx, []*batch{b})
		}
		if o.Err == nil || !c.units[i].Again(o.Err) {
			break
		}
	}
	return nil
}
