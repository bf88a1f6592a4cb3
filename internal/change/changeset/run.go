package changeset

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"stchat/internal/change/safefile"
	"stchat/internal/place/userdir"
	"stchat/internal/text/progress"
)

// Run drafts the units in parallel and returns an outcome for each, in their order. Units
// that share a path are committed together; of those that need a journal, many are committed
// with one. An error drops only its own unit and is returned in its outcome. First, Run ends
// what dead runs began in the roots of the units.
func Run(ctx context.Context, units []Unit, opt Options) []Outcome {
	opt.Call = cmp.Or(opt.Call, new(Call))
	c := &call{
		Options:  opt,
		units:    units,
		outcomes: make([]Outcome, len(units)),
		roots:    map[string]*root{},
		planned:  map[string]bool{},
	}

	c.recoverRoots(ctx)
	c.share()
	commits := ctx
	if len(units) > 1 {
		commits = context.WithoutCancel(ctx) // an interruption drops none that was drafted
	}
	progress.Each(ctx, len(units), func(i int) {
		c.draft(ctx, i)
		if b := c.batchOf[i]; b.drafted() {
			c.prepare(commits, c.ready(b))
		}
	})

	c.prepare(context.WithoutCancel(ctx), c.rest())
	for _, r := range c.Call.roots {
		c.takeTurn(ctx, commits, r)
	}
	for i := range units {
		if o := &c.outcomes[i]; c.sets[i] == nil && o.Err == nil {
			o.Err = fmt.Errorf("not begun: %w", ctx.Err())
		}
	}
	return c.outcomes
}

// takeTurn commits all that was drafted in a root, and drafts again what others have changed meanwhile,
// while no other run can commit anything there: so all that the call records has one place in the order
// of undo. What was drafted is committed with a context of its own.
func (c *call) takeTurn(ctx, commits context.Context, r *root) {
	drafted := slices.DeleteFunc(slices.Clone(c.drafted), func(t *commitment) bool { return t.root != r })
	slices.SortFunc(drafted, func(a, b *commitment) int { return a.units[0] - b.units[0] })
	again := c.failedIn(r)
	keepsNone := c.KeepBytes < 0 && c.wroteIn(r) >= 0
	if len(drafted) == 0 && len(again) == 0 && !keepsNone {
		return
	}
	end, err := r.takeTurn(commits, c.Options, len(drafted) > 0)
	if err != nil {
		for _, t := range drafted {
			t.discard()
			t.end(err)
		}
		for _, i := range again {
			c.outcomes[i].Err = err
		}
		return
	}

	defer end()
	for _, t := range drafted {
		c.commit(commits, t)
	}
	c.draftAgain(ctx, r)
	c.makeRoom(r)
}

// wroteIn returns the last unit that has changed something in a root, -1 if none has.
func (c *call) wroteIn(r *root) int {
	for i := range slices.Backward(c.outcomes) {
		o := &c.outcomes[i]
		wrote := o.ID != "" || c.KeepBytes < 0 && len(o.Steps) > 0 && !c.DryRun
		if wrote && c.roots[c.units[i].Root] == r {
			return i
		}
	}
	return -1
}

// makeRoom drops old records in a root where this call made new ones, or would have.
func (c *call) makeRoom(r *root) {
	last := c.wroteIn(r)
	if last < 0 || c.MoreFollows {
		return
	}
	names, err := r.known()
	if err != nil {
		return
	}
	for _, rec := range makeRoom(r.store, names, c.Options) {
		if rec.ID != r.id {
			c.outcomes[last].Dropped = append(c.outcomes[last].Dropped, rec)
			continue
		}
		for k := range c.outcomes { // it keeps no records
			if c.outcomes[k].ID == rec.ID {
				c.outcomes[k].ID = ""
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
	drafted []*commitment // that wait for the turn of their roots
}

// batch is the units that share paths: all of them succeed, or none.
type batch struct {
	root    *root
	number  int // among those of the call, from 1
	units   []int
	mu      sync.Mutex
	left    int  // units not drafted yet
	grouped bool // it was drafted, and is a part of a commitment or of a group
}

// drafted counts one unit, and reports whether it was the last.
func (b *batch) drafted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left--
	return b.left == 0
}

// recoverRoots finds the roots, and ends in each what dead runs began.
func (c *call) recoverRoots(ctx context.Context) {
	c.sets = make([]*Set, len(c.units))
	for i, u := range c.units {
		if c.roots[u.Root] != nil {
			continue
		}
		r := c.Call.root(u.Root)
		isKnown := slices.Contains(slices.Collect(maps.Values(c.roots)), r) // by another path
		c.roots[u.Root] = r
		if isKnown {
			continue
		}
		ended, err := recovery{root: r, opt: c.Options}.run(ctx)
		if err != nil {
			ended = append(ended, Ended{Root: r.dir, Result: Stuck, Err: err})
		}
		c.outcomes[i].Ended = ended
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
		b.units = append(b.units, i)
		b.left++
		c.batchOf[i] = b
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

// failedIn returns the units of a root that failed since others changed a file, and whose drafts can be
// made from what stands there now.
func (c *call) failedIn(r *root) (failed []int) {
	for i, u := range c.units {
		wasDrafted := c.roots[u.Root] == r && c.sets[i] != nil
		err := c.outcomes[i].Err
		if !wasDrafted || err == nil || u.Again == nil {
			continue
		}
		if u.Again(err) {
			failed = append(failed, i)
		}
	}
	return failed
}

// draftAgain drafts and commits those units anew, in the root's turn: so of many runs side by side all
// succeed, one after the other. What takes no locks, such as SillyTavern, may come between; then it is
// done again.
func (c *call) draftAgain(ctx context.Context, r *root) {
	for _, i := range c.failedIn(r) { // first all of them: an error may name what another unit drafts anew
		o := &c.outcomes[i]
		for try := range tries {
			time.Sleep(time.Duration(try) * time.Millisecond)
			b := &batch{root: r, number: len(c.units) + i + 1, units: []int{i}, grouped: true}
			c.batchOf[i] = b
			*o = Outcome{Ended: o.Ended}
			c.draft(ctx, i)
			for _, t := range c.join(ctx, []*batch{b}) {
				c.commit(ctx, t)
			}
			if o.Err == nil || !c.units[i].Again(o.Err) {
				break
			}
		}
	}
}
