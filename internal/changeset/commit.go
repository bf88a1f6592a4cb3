package changeset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"stchat/internal/safefile"
)

// tries is how often a commit is tried while other programs keep saving a file that it
// edits.
const tries = 20

// commitment is one batch, or a group of them, on its way to its names.
type commitment struct {
	call   *call
	root   *root
	plans  []*plan
	edits  []*editing
	byPath map[string]*editing // the same, by the file's real path
	relied []reliance
	units  []int
	id     string        // where it was recorded
	failed map[int]error // by batch number: those that were not made
	over   bool          // each batch of a group would fail alike
}

// add takes over what a unit drafted, and groups edits by file.
func (t *commitment) add(unit int, s *Set) {
	t.units = append(t.units, unit)
	t.relied = append(t.relied, s.relied...)
	for _, p := range s.plans {
		p.part = t.call.batchOf[unit]
		if p.edit == nil {
			t.plans = append(t.plans, p)
			continue
		}
		e := t.byPath[p.real]
		if e == nil {
			all := *p
			e = &editing{plan: &all}
			t.edits, t.byPath[p.real] = append(t.edits, e), e
		}
		e.parts = append(e.parts, p)
	}
}

func (t *commitment) discard() {
	for _, e := range t.edits {
		e.plan.draft.discard()
	}
}

// join renders the edits and puts all steps in order.
func (t *commitment) join(ctx context.Context) error {
	// dropping a unit for one edit also drops its part of the others
	for {
		i := slices.IndexFunc(t.edits, func(e *editing) bool { return !e.rendered })
		if i < 0 {
			break
		}
		if err := t.edits[i].render(ctx, t.root.self, t.call.Options); err != nil {
			if err = t.blame(ctx, t.edits[i], err); err != nil {
				return err
			}
		}
	}
	for _, e := range t.edits {
		if e.plan.unit = e.parts[0].unit; e.plan.draft != nil {
			t.plans = append(t.plans, e.plan)
		}
	}
	rank := map[Do]int{Create: 0, Move: 1, Replace: 2, Remove: 3}
	slices.SortStableFunc(t.plans, func(a, b *plan) int {
		if d := rank[a.Do] - rank[b.Do]; d != 0 {
			return d
		}
		return a.unit - b.unit
	})
	return apart(t)
}

// blame finds the units whose edits of a file fail, and drops only those. The edits of
// the others must be rendered again.
func (t *commitment) blame(ctx context.Context, e *editing, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if len(e.parts) == 1 {
		t.drop(e.parts[0].unit, err)
		return nil
	}
	all := e.parts
	var good []*plan
	failed := map[int]error{}
	for _, p := range all {
		e.parts = append(slices.Clip(good), p)
		if err := e.render(ctx, t.root.self, t.call.Options); err != nil {
			failed[p.unit] = err
		} else {
			good = e.parts
		}
	}
	e.parts = all
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
	for _, e := range t.edits {
		parts := len(e.parts)
		e.parts = slices.DeleteFunc(e.parts, func(p *plan) bool { return p.unit == unit })
		e.rendered = e.rendered && len(e.parts) == parts
	}
	t.edits = slices.DeleteFunc(t.edits, func(e *editing) bool {
		if len(e.parts) == 0 {
			e.plan.draft.discard()
		}
		return len(e.parts) == 0
	})
}

// run checks that everything is still as it was judged, and makes the steps.
func (t *commitment) run(ctx context.Context) error {
	opt := &t.call.Options
	switch {
	case len(t.plans) == 0:
		return nil
	case opt.DryRun:
		return errors.Join(t.look(), t.call.rehearse(t.plans))
	case len(t.plans) == 1 && !needsRecord(*opt, t.root, &t.call.units[t.plans[0].unit], t.plans[0]):
		left, err := t.check(ctx, func() (bool, error) { return false, nil })
		if err != nil || !left {
			return err
		}
		if p := t.plans[0]; p.Do == Replace {
			return p.draft.replace(p.was)
		}
		return t.plans[0].draft.create()
	}
	err := t.record(ctx)
	if no, ok := errors.AsType[*noRecordError](err); ok && !slices.ContainsFunc(t.plans, func(p *plan) bool { return p.Do != Create }) {
		return t.createAll(no.err)
	}
	return err
}

// noRecordError says that nothing can be recorded; nothing was done.
type noRecordError struct{ err error }

func (e *noRecordError) Error() string { return e.err.Error() }
func (e *noRecordError) Unwrap() error { return e.err }

// createAll creates files without a record, all or none.
func (t *commitment) createAll(why error) error {
	if err := t.look(); err != nil {
		return err
	}
	for i, p := range t.plans {
		if err := p.draft.create(); err != nil {
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
	d := opt.system()
	made, err := t.root.make()
	if err != nil {
		return &noRecordError{at(t.root.own(""), err)}
	}
	if made && !opt.NoSync {
		if err := d.SyncDir(t.root.dir); err != nil { // the disk fails
			return at(t.root.dir, err)
		}
	}
	unlock, held, err := t.root.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	_, names, err := (recovery{root: t.root, opt: *opt}).endAll(held)
	if err != nil {
		return &noRecordError{at(t.root.own(""), err)}
	}
	if !t.root.recorded { // a try that failed gives it no place among the others
		t.root.id = nextID(names, opt.Now)
	}
	t.over = false
	j := newJournal(t.root, opt, t.undoes(), t.root.canLink(d))
	left, err := t.check(ctx, func() (bool, error) { return compose(j, t.root, t.plans) })
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
	t.root.recorded = true
	t.failed = p.commit()
	for _, p := range t.plans {
		if err := t.failed[p.part.number]; err == nil || isStuck(err) {
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
		err, read := t.look(), false
		if err == nil {
			read, err = compose()
		}
		if err == nil && read {
			err = t.look() // the steps identify exactly the files that were judged
		}
		if err == nil {
			return true, nil
		}
		if again, err := t.anew(ctx, err, try); err != nil || !again {
			return false, err
		}
	}
}

// undoes returns the ID of the record that is taken back, or "".
func (t *commitment) undoes() string { return t.call.units[t.units[0]].undoes }

// look returns an error if anything is not as it was judged. It wraps a *staleError where
// only edits are stale that can be rendered anew.
func (t *commitment) look() error {
	for _, r := range t.relied {
		now, err := safefile.StampPath(r.path)
		gone := errors.Is(err, fs.ErrNotExist)
		if gone && r.was == (safefile.Stamp{}) {
			continue
		}
		if err != nil && !gone {
			return err
		}
		if !now.Same(r.was) {
			return fmt.Errorf("%s: %w", r.path, safefile.ErrChanged)
		}
	}
	var stale error
	for _, p := range t.plans {
		err := p.look()
		if err == nil {
			continue
		}
		if e := t.editOf(p); e != nil && errors.Is(err, safefile.ErrChanged) && e.byMeaning() {
			stale = errors.Join(stale, &staleError{err})
			continue
		}
		return err
	}
	return stale
}

func (t *commitment) editOf(p *plan) *editing {
	if e := t.byPath[p.real]; e != nil && e.plan == p {
		return e
	}
	return nil
}

// anew renders the edits again whose files were saved meanwhile. again is false where
// nothing is left to do.
func (t *commitment) anew(ctx context.Context, err error, try int) (again bool, _ error) {
	if _, ok := errors.AsType[*staleError](err); !ok || try == tries {
		return false, err
	}
	time.Sleep(time.Duration(try) * time.Millisecond)
	for _, e := range t.edits {
		if e.plan.draft == nil || e.plan.look() == nil {
			continue
		}
		if err := e.render(ctx, t.root.self, t.call.Options); err != nil {
			return false, err
		}
		if e.plan.draft == nil {
			t.plans = slices.DeleteFunc(t.plans, func(p *plan) bool { return p == e.plan })
		}
	}
	return len(t.plans) > 0, nil
}
