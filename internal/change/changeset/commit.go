package changeset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"stchat/internal/change/safefile"
)

// tries is how often a commit is tried while other programs keep saving a file that it
// edits.
const tries = 20

// commitment is one batch, or a group of them, on its way to its names.
type commitment struct {
	call    *call
	root    *root
	batches []*batch
	plans   []*plan // in the order in which they are made
	edits   []*plan // those of them that are edits, also of files that stay as they are
	relied  []reliance
	units   []int
	id      string        // where it was recorded
	failed  map[int]error // by batch number: those that were not made
	over    bool          // each batch of a group would fail alike
}

// batch returns the batch that a plan belongs to.
func (t *commitment) batch(p *plan) *batch { return t.call.batchOf[p.unit] }

func (t *commitment) discard() {
	for _, p := range t.edits {
		p.draft.discard()
	}
}

// join takes over what the units drafted, renders the edits, all of a file as one, and puts the
// steps in order.
func (t *commitment) join(ctx context.Context) error {
	byPath := map[string]*plan{} // edits
	for _, unit := range t.units {
		s := t.call.sets[unit]
		t.relied = append(t.relied, s.relied...)
		for _, p := range s.plans {
			if p.edit == nil {
				t.plans = append(t.plans, p)
				continue
			}
			all := byPath[p.real]
			if all == nil {
				joined := *p
				all = &joined
				t.edits = append(t.edits, all)
				byPath[p.real] = all
			}
			all.edits = append(all.edits, p)
		}
	}

	// dropping a unit for one edit also drops its part of the others
	for {
		i := slices.IndexFunc(t.edits, func(p *plan) bool { return !p.rendered })
		if i < 0 {
			break
		}
		err := t.render(ctx, t.edits[i])
		if err != nil {
			err = t.dropFailing(ctx, t.edits[i], err)
		}
		if err != nil {
			return err
		}
	}

	for _, p := range t.edits {
		p.unit = p.edits[0].unit
		if p.draft != nil {
			t.plans = append(t.plans, p)
		}
	}

	rank := map[Do]int{Create: 0, Move: 1, Replace: 2, Remove: 3}
	slices.SortStableFunc(t.plans, func(a, b *plan) int {
		return cmp.Or(rank[a.Do]-rank[b.Do], a.unit-b.unit)
	})
	return t.conflicts()
}

// dropFailing finds the units whose edits of a file fail, and drops only those. The edits of
// the others must be rendered again.
func (t *commitment) dropFailing(ctx context.Context, p *plan, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if len(p.edits) == 1 {
		t.drop(p.edits[0].unit, err)
		return nil
	}
	all := p.edits
	p.edits = nil
	failed := map[int]error{}
	for _, e := range all {
		p.edits = append(p.edits, e)
		if err := t.render(ctx, p); err != nil {
			failed[e.unit] = err
			p.edits = p.edits[:len(p.edits)-1]
		}
	}

	p.edits = all
	for unit, err := range failed {
		t.drop(unit, err)
	}
	return nil
}

// drop takes a unit out of the batch.
func (t *commitment) drop(unit int, err error) {
	t.call.outcomes[unit].Err = err
	t.call.sets[unit].discard()
	t.plans = slices.DeleteFunc(t.plans, func(p *plan) bool { return p.unit == unit })
	t.edits = slices.DeleteFunc(t.edits, func(p *plan) bool {
		before := len(p.edits)
		p.edits = slices.DeleteFunc(p.edits, func(e *plan) bool { return e.unit == unit })
		if len(p.edits) != before {
			p.rendered = false
		}
		if len(p.edits) > 0 {
			return false
		}
		p.draft.discard()
		return true
	})
}

// run checks that everything is still as it was judged, and makes the steps.
func (t *commitment) run(ctx context.Context) error {
	opt := &t.call.Options
	switch {
	case len(t.plans) == 0:
		return nil
	case opt.DryRun:
		_, err := t.look()
		return errors.Join(err, t.call.rehearse(t.plans))
	case !t.isRecorded():
		left, err := t.check(ctx, func() (bool, error) { return false, nil })
		if err != nil || !left {
			return err
		}
		if p := t.plans[0]; p.Do == Replace {
			return p.draft.temp.Replace(p.was)
		}
		return t.plans[0].draft.temp.Create()
	}

	err := t.record(ctx)
	no, ok := errors.AsType[*noRecordError](err)
	if !ok {
		return err
	}
	onlyCreates := !slices.ContainsFunc(t.plans, func(p *plan) bool { return p.Do != Create })
	isUndo := t.first().undoes != "" // without a record of its own what it takes back would not count as undone
	if onlyCreates && !isUndo {
		return t.createAll(no.err)
	}
	return err
}

// isRecorded reports whether the steps are made with a journal.
func (t *commitment) isRecorded() bool {
	if t.call.DryRun || len(t.plans) == 0 {
		return false
	}
	only := t.plans[0]
	return len(t.plans) > 1 || needsRecord(t.call.Options, t.root, &t.call.units[only.unit], only)
}

// noRecordError says that nothing can be recorded; nothing was done.
type noRecordError struct{ err error }

func (e *noRecordError) Error() string { return e.err.Error() }
func (e *noRecordError) Unwrap() error { return e.err }

// createAll creates files without a record, all or none.
func (t *commitment) createAll(why error) error {
	if _, err := t.look(); err != nil {
		return err
	}
	for i, p := range t.plans {
		if err := p.draft.temp.Create(); err != nil {
			for _, done := range t.plans[:i] {
				err = errors.Join(err, t.call.system().Remove(done.real))
			}
			return err
		}
	}

	if t.root.noRecord == nil {
		t.root.noRecord = why
		t.call.outcomes[t.units[0]].NoRecord = why
	}
	return nil
}

// record makes the steps under the lock, with a journal.
func (t *commitment) record(ctx context.Context) (err error) {
	t.over = true
	opt := &t.call.Options
	if err := t.root.ready(*opt); err != nil {
		return err
	}
	unlock, held, err := t.root.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := t.root.settle(*opt, held); err != nil {
		return &noRecordError{at(t.root.own(""), err)}
	}
	t.over = false
	j := newJournal(t.root, opt, t.first(), t.root.canLink(opt.system()))
	left, err := t.check(ctx, func() (bool, error) { return t.compose(j) })
	if err != nil || !left {
		return err
	}
	t.over = true
	p, err := decide(j, t.root, *opt)
	if errors.Is(err, fs.ErrPermission) {
		return &noRecordError{at(t.root.own(""), err)}
	}
	if err != nil {
		return at(t.root.own(""), err)
	}
	t.root.noteWritten(j)
	t.failed = p.commit()
	for _, err := range t.failed {
		if isStuck(err) {
			t.root.settled = false // the next commit tries to end it first
		}
	}

	for _, p := range t.plans {
		if err := t.failed[t.batch(p).number]; err == nil || isStuck(err) {
			p.draft.release() // it has its name, or the journal decides what becomes of it
		}
	}

	t.id = j.ID
	return nil
}

// check makes sure that everything is as it was judged, and then that compose describes it.
// Edits by meaning are rendered again as long as others save their files. left is false where
// somebody else made the same change meanwhile.
func (t *commitment) check(ctx context.Context, compose func() (read bool, err error)) (left bool, err error) {
	for try := 1; ; try++ {
		stale, err := t.look()
		read := false
		if err == nil {
			read, err = compose()
		}
		if err == nil && read {
			stale, err = t.look() // the steps identify exactly the files that were judged
		}
		if err == nil || !stale || try == tries {
			return err == nil, err
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
		if err := t.rerender(ctx); err != nil || len(t.plans) == 0 {
			return false, err
		}
	}
}

// first returns the first of its units, which is the only one where a record is taken back.
func (t *commitment) first() *Unit { return &t.call.units[t.units[0]] }

// look returns an error if anything is not as it was judged. stale is true where that is only
// edits that can be rendered again.
func (t *commitment) look() (stale bool, err error) {
	for _, r := range t.relied {
		now, err := safefile.StampPath(r.path)
		gone := errors.Is(err, fs.ErrNotExist)
		if gone && r.was == (safefile.Stamp{}) {
			continue
		}
		if err != nil && !gone {
			return false, err
		}
		if !now.Same(r.was) {
			return false, fmt.Errorf("%s: %w", r.path, safefile.ErrChanged)
		}
	}

	for _, p := range t.plans {
		was := p.look()
		if was == nil {
			continue
		}
		byStamp := func(e *plan) bool { return !e.byMeaning }
		isByMeaning := len(p.edits) > 0 && !slices.ContainsFunc(p.edits, byStamp)
		if !isByMeaning || !errors.Is(was, safefile.ErrChanged) {
			return false, was
		}
		stale = true
		err = errors.Join(err, was)
	}
	return stale, err
}

// rerender renders the edits again whose files were saved meanwhile.
func (t *commitment) rerender(ctx context.Context) error {
	for _, p := range t.edits {
		if p.draft == nil || p.look() == nil {
			continue
		}
		if err := t.render(ctx, p); err != nil {
			return err
		}
		if p.draft == nil {
			t.plans = slices.DeleteFunc(t.plans, func(other *plan) bool { return other == p })
		}
	}
	return nil
}
