package changeset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	// ErrNothing means that there is no record to undo.
	ErrNothing = errors.New("there is nothing to undo")
	// ErrNoRecord means that there is no record with this ID.
	ErrNoRecord = errors.New("there is no such record")
	// ErrUndone means that a record was taken back already.
	ErrUndone = errors.New("is undone already")
	// ErrElsewhere means that a record was made on another machine, or before its folder was
	// copied, so that its files cannot be recognised for certain.
	ErrElsewhere = errors.New("was made on another machine, or before the folder was copied or restored")
)

// SinceError means that a call cannot be undone, since Files are no longer as it left them.
type SinceError struct {
	ID    string
	Files []string
}

func (e *SinceError) Error() string {
	return fmt.Sprintf("%s cannot be undone: changed since: %s", e.ID, strings.Join(e.Files, ", "))
}

// LostError means that the old content of a file is gone or was changed.
type LostError struct {
	Path string // the file whose old content it was
	Kept string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s: its old content is gone, or was changed: %s", e.Path, e.Kept)
}

// Undoing is a record that is being taken back.
type Undoing struct {
	Unit   // takes the record back, and is recorded itself
	Record Record
	// Left are the files left as they are, since somebody changed them. It is set once the
	// unit has drafted, and only with force.
	Left []string
}

// Undo returns the unit that takes back a record of the root dir: what was created goes,
// what was replaced or removed comes back. An empty id means the newest record that is
// neither undone nor made by undo. If a file is not as the call left it, the unit fails with
// a [*SinceError]; with force it leaves such files as they are. force also takes back what
// was recorded elsewhere. The errors wrap [ErrNothing], [ErrNoRecord], [ErrUndone] and
// [ErrElsewhere], or are those of unreadable records.
func Undo(dir, id string, force bool) (*Undoing, error) {
	r := newRoot(dir)
	isMeant := func(rec *Record) bool {
		return rec.ID != "" && rec.ID == id || id == "" && rec.ID != "" && !rec.Undone && rec.Undoes == ""
	}
	records, errs, err := readRecords(r.store, func(rec *Record, errs []error) bool {
		return isMeant(rec) || id == "" && len(errs) > 0 // it may be the last
	})
	if err != nil {
		return nil, err
	}
	found := len(records) > 0 && isMeant(&records[len(records)-1])
	switch {
	case len(errs) > 0 && (!found || id == ""):
		return nil, errors.Join(errs...)
	case !found && id != "":
		return nil, fmt.Errorf("%s: %w", id, ErrNoRecord)
	case !found:
		return nil, ErrNothing
	}
	u := &Undoing{Record: records[len(records)-1]}
	if u.Record.Undone {
		return nil, fmt.Errorf("%s %w", u.Record.ID, ErrUndone)
	}
	home := !slices.ContainsFunc(u.Record.sets, func(j *journal) bool { return !r.isHome(j) })
	if !home && !force {
		return nil, fmt.Errorf("%s %w", u.Record.ID, ErrElsewhere)
	}
	u.Unit = Unit{Root: dir, undoes: u.Record.ID, Draft: func(_ context.Context, s *Set) error {
		return u.draft(s, force, !home)
	}}
	return u, nil
}

// draft drafts the inverse of the record.
func (u *Undoing) draft(s *Set, force, loose bool) error {
	v := newView(s.root, u.Record.sets[0])
	v.loose = v.loose || loose
	inv := inverse{s, v}
	s.undoing = true
	if loose {
		for _, j := range u.Record.sets {
			if err := newPlayer(newView(s.root, j), j, s.opt).all().confined(); err != nil {
				return err
			}
		}
	}
	var changed []string
	var todo []*state
	u.Left = nil
	for _, st := range states(u.Record.sets) {
		if st.before == nil && st.after == nil {
			continue
		}
		if !inv.stands(st) {
			changed = append(changed, s.root.show(st.path))
			continue
		}
		todo = append(todo, st)
	}
	if len(changed) > 0 && !force {
		return &SinceError{u.Record.ID, changed}
	}
	u.Left = changed
	for _, st := range todo {
		if st.moved != nil && !slices.Contains(todo, st.moved) {
			u.Left = append(u.Left, s.root.show(st.path)) // what it was moved to has been changed
			continue
		}
		if err := inv.invert(st); err != nil {
			return err
		}
	}
	return nil
}
