package changeset

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"stchat/internal/progress"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// Run drafts the units in parallel and returns an outcome for each, in their order. Units
// that share a path are committed together; of those that need a journal, many are committed
// with one. An error drops only its own unit and is returned in its outcome. First, Run ends
// what dead runs began in the roots of the units.
func Run(ctx context.Context, units []Unit, opt Options) []Outcome {
	opt.Call = cmp.Or(opt.Call, new(Call))
	c := &call{Options: opt, units: units, outcomes: make([]Outcome, len(units)), roots: map[string]*root{}, planned: map[string]bool{}}
	c.begin(ctx)
	c.share()
	progress.Each(ctx, len(units), func(i int) {
		c.draft(ctx, i)
		if b := c.batchOf[i]; b.drafted() {
			c.commitAll(ctx, c.ready(b))
		}
	})
	// an interruption stops drafting; what was drafted is committed
	c.commitAll(context.WithoutCancel(ctx), c.rest())
	c.draftAgain(ctx)
	for i := range units {
		if o := &c.outcomes[i]; c.sets[i] == nil && o.Err == nil {
			o.Err = fmt.Errorf("not begun: %w", ctx.Err())
		}
	}
	c.makeRoom()
	return c.outcomes
}

// makeRoom drops old records in the roots where this call made new ones, or would have.
func (c *call) makeRoom() {
	done := map[*root]bool{}
	for i := range slices.Backward(c.outcomes) {
		o := &c.outcomes[i]
		wrote := o.ID != "" || c.KeepBytes < 0 && len(o.Steps) > 0 && !c.DryRun
		if r := c.roots[c.units[i].Root]; wrote && !done[r] {
			done[r] = true
			for _, rec := range makeRoom(r.store, c.Options) {
				if rec.ID != r.id {
					o.Dropped = append(o.Dropped, rec)
					continue
				}
				for k := range c.outcomes { // it keeps no records
					if c.outcomes[k].ID == rec.ID {
						c.outcomes[k].ID = ""
					}
				}
			}
		}
	}
}

// call is one Run.
type call struct {
	Options
	units    []Unit
	outcomes []Outcome
	sets     []*Set
	batchOf  []*batch

	roots map[string]*root

	mu      sync.Mutex
	planned map[string]bool // real paths that a dry run would create
	waiting group
}

// batch is the units that share paths: all of them succeed, or none.
type batch struct {
	root      *root
	number    int // among those of the call, from 1
	units     []int
	mu        sync.Mutex
	left      int // units not drafted yet
	committed bool
}

// drafted counts one unit, and reports whether it was the last.
func (b *batch) drafted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left--
	return b.left == 0
}

// begin finds the roots, and ends in each what dead runs began.
func (c *call) begin(ctx context.Context) {
	c.sets = make([]*Set, len(c.units))
	for i, u := range c.units {
		if c.roots[u.Root] != nil {
			continue
		}
		r := c.Call.root(u.Root)
		known := slices.Contains(slices.Collect(maps.Values(c.roots)), r)
		if c.roots[u.Root] = r; known {
			continue
		}
		var err error
		if c.outcomes[i].Ended, err = (recovery{root: r, opt: c.Options}).run(ctx); err != nil {
			c.outcomes[i].Ended = append(c.outcomes[i].Ended, Ended{Root: r.dir, Result: Stuck, Err: err})
		}
	}
}

// root returns a root as the call has it already, or a new one.
func (c *Call) root(dir string) *root {
	r := newRoot(dir)
	if i := slices.IndexFunc(c.roots, func(known *root) bool { return known.dir == r.dir }); i >= 0 {
		return c.roots[i]
	}
	c.roots = append(c.roots, r)
	return r
}

// share puts units into one batch if they share a path of one root.
func (c *call) share() {
	type shared struct {
		root *root
		path string
	}
	byPath := map[shared]int{}         // the first unit
	first := make([]int, len(c.units)) // an earlier unit of the same batch, or the unit itself
	find := func(i int) int {
		for first[i] != i {
			first[i] = first[first[i]]
			i = first[i]
		}
		return i
	}
	var real userdir.Real
	for i, u := range c.units {
		first[i] = i
		for _, path := range u.Shares {
			at := shared{c.roots[u.Root], real.Path(path)}
			if k, ok := byPath[at]; ok {
				a, b := find(k), find(i)
				first[max(a, b)] = min(a, b)
			} else {
				byPath[at] = i
			}
		}
	}
	c.batchOf = make([]*batch, len(c.units))
	for i, u := range c.units {
		k := find(i)
		if k == i {
			c.batchOf[i] = &batch{root: c.roots[u.Root], number: i + 1}
		}
		b := c.batchOf[k]
		c.batchOf[i], b.units, b.left = b, append(b.units, i), b.left+1
	}
}

// draft runs the Draft of one unit.
func (c *call) draft(ctx context.Context, i int) {
	u := &c.units[i]
	s := &Set{opt: c.Options, root: c.roots[u.Root]}
	err := u.Draft(ctx, s)
	for k := range s.relied {
		s.relied[k].unit = i
	}
	for _, p := range s.plans {
		p.unit = i
		if p.draft == nil {
			continue
		}
		p.Bytes = p.draft.Size()
		if err == nil {
			err = p.draft.finish() // a full disk shows before anything has a name
		}
	}
	if err == nil && s.isRecorded(u) {
		s.hash()
	}
	if err != nil {
		s.discard()
		s.plans = nil
		c.outcomes[i].Err = err
	}
	c.sets[i] = s
}

// rehearse notes the names that a dry run would give, so that they are taken for the next
// unit.
func (c *call) rehearse(plans []*plan) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range plans {
		name, shown := p.real, p.Path
		if p.Do == Move {
			name, shown = p.to, p.To
		} else if p.Do != Create {
			continue
		}
		if c.planned[name] {
			return &safefile.ExistsError{Path: shown}
		}
		c.planned[name] = true
	}
	return nil
}

// draftAgain drafts and commits anew the units that failed since others changed a file, and whose
// drafts can be made from what stands there now. That is done under the root's lock, so of many
// runs side by side all succeed, one after the other. What takes no locks, such as SillyTavern,
// may come between; then it is done again.
func (c *call) draftAgain(ctx context.Context) {
	var failed []int // first all of them: an error may name what another unit drafts anew
	for i, u := range c.units {
		if u.Again != nil && c.sets[i] != nil && c.outcomes[i].Err != nil && u.Again(c.outcomes[i].Err) {
			failed = append(failed, i)
		}
	}
	for _, i := range failed {
		if err := c.draftUnderLock(ctx, i); err != nil {
			c.outcomes[i].Err = err
		}
	}
}

func (c *call) draftUnderLock(ctx context.Context, i int) error {
	r, o := c.roots[c.units[i].Root], &c.outcomes[i]
	for try := range tries {
		time.Sleep(time.Duration(try) * time.Millisecond)
		unlock, held, err := r.lock(ctx)
		if err != nil {
			return err
		}
		// Windows has nothing to lock before there is a .stchat: the commit makes it, and locks it.
		if r.mine = held; !held {
			unlock()
		}
		b := &batch{root: r, number: len(c.units) + i + 1, units: []int{i}}
		c.batchOf[i], *o = b, Outcome{Ended: o.Ended}
		if c.draft(ctx, i); o.Err == nil {
			c.commit(ctx, []*batch{b})
		}
		if r.mine = false; held {
			unlock()
		}
		if o.Err == nil || !c.units[i].Again(o.Err) {
			break
		}
	}
	return nil
}
