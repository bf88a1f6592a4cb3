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
	Redo  bool // it was to be done again
}

func (e *SinceError) Error() string {
	done := "undone"
	if e.Redo {
		done = "redone"
	}
	return fmt.Sprintf("%s cannot be %s: changed since: %s", e.ID, done, strings.Join(e.Files, ", "))
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
	// Left are the files left as they are, since somebody changed them; Needed are those that
	// such a file needs. They are set once the unit has drafted, and only with force.
	Left, Needed []string

	// SavedAgain, if set, reports whether a file that the call created, and that was changed
	// since, has nothing new in it that matters. Then it goes all the same.
	SavedAgain func(ctx context.Context, path string) bool
	// Since, if set, returns files that came to be since because of what a step did. They count
	// as changed.
	Since func(path, about string) []string
	// Needs, if set, reports whether a file that the call created is needed by one that is left.
	Needs func(ctx context.Context, path string, left []string) bool
	// Keep, if set, returns an edit of the old content of a file that keeps in it what files
	// that are left need; nil for none.
	Keep func(path string, left []string) func(old []byte) ([]byte, error)

	force     bool
	elsewhere bool // where the record was made, so inodes mean nothing
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
		if rec.ID == "" {
			return false
		}
		if id != "" {
			return rec.ID == id
		}
		return !rec.Undone && rec.Undoes == ""
	}

	records, errs, err := readRecords(r.store, func(rec *Record, errs []error) bool {
		return isMeant(rec) || id == "" && len(errs) > 0 // it may be the last
	})
	if err != nil {
		return nil, err
	}
	found := len(records) > 0 && isMeant(&records[len(records)-1])
	isPart := anyUnreadable(errs, func(of string) bool { return of == id })
	switch {
	case len(errs) > 0 && (!found || id == ""), isPart && !force:
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
	u.force = force
	u.elsewhere = slices.ContainsFunc(u.Record.sets, func(j *journal) bool { return !r.isHome(j) })
	if u.elsewhere && !force {
		return nil, fmt.Errorf("%s %w", u.Record.ID, ErrElsewhere)
	}
	isUndo := u.Record.Undoes != "" && !u.Record.redoes
	u.Unit = Unit{Root: dir, undoes: u.Record.ID, redoes: isUndo, Draft: u.draft}
	return u, nil
}

// draft drafts the inverse of the record.
func (u *Undoing) draft(ctx context.Context, s *Set) error {
	inv, err := u.inverse(s)
	if err != nil {
		return err
	}
	todo, err := inv.reversible(ctx, nil)
	if err != nil {
		return err
	}
	for _, st := range todo {
		if err := inv.invert(st); err != nil {
			return err
		}
	}
	return nil
}

// inverse begins the inverse of the record. The files of a record from elsewhere must lie in the folder.
func (u *Undoing) inverse(s *Set) (inverse, error) {
	s.undoing = true
	if u.elsewhere {
		for _, j := range u.Record.sets {
			if err := newPlayer(s.root, j, s.opt).confined(); err != nil {
				return inverse{}, err
			}
		}
	}
	links := u.Record.sets[0].Links
	return inverse{u, s, judge{loose: u.elsewhere || !links}, map[string]bool{}}, nil
}
