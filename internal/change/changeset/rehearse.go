package changeset

import (
	"context"
	"slices"

	"stchat/internal/change/safefile"
)

// Assumed is what files hold once some records have been taken back, which a dry run does not do. The
// zero value assumes nothing.
type Assumed struct {
	files map[string]*safefile.Ident // by their names in records; nil: no file
}

// identOf returns what a file holds; ok is false if nothing is assumed of it.
func (a *Assumed) identOf(name string) (id *safefile.Ident, ok bool) {
	if a == nil {
		return nil, false
	}
	id, ok = a.files[name]
	return id, ok
}

// isGone reports whether the file at path is assumed to be gone.
func (a *Assumed) isGone(r *root, path string) bool {
	name, inRoot := r.rel(path)
	if !inRoot {
		return false
	}
	id, ok := a.identOf(name)
	return ok && id == nil
}

// Rehearse returns the steps that the unit would take if the files were as assumed, and from then on
// assumes that they were taken. Its errors are those of the unit. Nothing is written.
func (u *Undoing) Rehearse(ctx context.Context, as *Assumed) ([]Step, error) {
	r := newRoot(u.Root)
	inv, err := u.inverse(&Set{root: r, opt: Options{DryRun: true}})
	if err != nil {
		return nil, err
	}
	todo, err := inv.reversible(ctx, as)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, st := range todo {
		if st.came != nil {
			continue // the move at its old name restores both
		}
		step := st.inverted(r)
		comesBack := step.Do == Create || step.Do == Replace
		kept := r.own(st.kept)
		if comesBack && !inv.isKept(kept, st.before) {
			return nil, &LostError{step.Path, kept}
		}
		steps = append(steps, step)
	}

	if as.files == nil {
		as.files = map[string]*safefile.Ident{}
	}
	for _, st := range todo {
		as.files[st.path] = st.before
	}
	rank := map[Do]int{Create: 0, Move: 1, Replace: 2, Remove: 3} // the order of a commit
	slices.SortStableFunc(steps, func(a, b Step) int { return rank[a.Do] - rank[b.Do] })
	return steps, nil
}

// inverted returns the step that restores one file.
func (st *state) inverted(r *root) Step {
	step := Step{Path: r.show(st.path), About: st.about}
	if st.before == nil {
		step.Do = Remove
		step.Bytes = st.after.Size
		return step
	}

	step.Bytes = st.before.Size
	switch {
	case st.moved != nil:
		step.Do = Move
		step.To = step.Path
		step.Path = r.show(st.moved.path)
	case st.after == nil:
		step.Do = Create
	default:
		step.Do = Replace
	}
	return step
}
