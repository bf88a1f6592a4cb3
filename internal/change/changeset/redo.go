package changeset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ErrNoRedo means that there is no undo to take back.
var ErrNoRedo = errors.New("there is nothing to redo")

// UndoTo returns the IDs of the records to take back, one after the other, so that the files of the root
// dir are as they were before the record id: the newest first, without those that were taken back
// already. A later undo of what is older is among them. The errors wrap [ErrNoRecord] and [ErrUndone],
// or are those of unreadable records.
func UndoTo(dir, id string) (ids []string, err error) {
	var since []Record
	found := false
	_, errs, err := readRecords(newRoot(dir).store, func(rec *Record, _ []error) bool {
		if rec.ID == "" || rec.ID < id {
			return rec.ID != ""
		}
		since = append(since, *rec)
		found = found || rec.ID == id
		return found
	})

	switch {
	case err != nil:
		return nil, err
	case !found && len(errs) == 0:
		return nil, fmt.Errorf("%s: %w", id, ErrNoRecord)
	case len(errs) > 0:
		return nil, errors.Join(errs...)
	}

	for _, rec := range since {
		paired := rec.Undoes >= id // what it took back is one of them, too
		if !rec.Undone && !paired {
			ids = append(ids, rec.ID)
		}
	}

	if len(ids) == 0 {
		return nil, fmt.Errorf("%s %w", id, ErrUndone)
	}
	return ids, nil
}

// LastUndo returns the IDs of the records to take back, one after the other, so that what the last undo
// of the root dir has taken back is there again: the newest first. The errors wrap [ErrNoRedo], or are
// those of unreadable records.
func LastUndo(dir string) (ids []string, err error) {
	records, errs, err := readRecords(newRoot(dir).store, nil)
	if err != nil {
		return nil, err
	}
	byID := map[string]*Record{}
	for i := range records {
		byID[records[i].ID] = &records[i]
	}
	first := ""
	for i := range records {
		rec := &records[i]
		if rec.Undone || !rec.isUndo(byID) {
			continue
		}
		call := cmp.Or(rec.With, rec.ID)
		if first == "" {
			first = call
		}
		if call == first {
			ids = append(ids, rec.ID)
		}
	}

	isOfThem := func(id string) bool { return id >= ids[len(ids)-1] }
	if len(errs) > 0 && (len(ids) == 0 || anyUnreadable(errs, isOfThem)) {
		return nil, errors.Join(errs...)
	}
	if len(ids) == 0 {
		return nil, ErrNoRedo
	}
	return ids, nil
}

// isUndo reports whether a record took back a command, and did not bring one back.
func (r *Record) isUndo(byID map[string]*Record) bool {
	if r.Undoes == "" || r.redoes {
		return false
	}
	target := byID[r.Undoes]
	if target == nil || target.ID >= r.ID { // it was dropped; or is a stranger's, which may lead in a circle
		return true
	}
	return !target.isUndo(byID)
}

// anyUnreadable reports whether one of the records that cannot be read, or cannot be read whole, is a certain
// one, by its ID.
func anyUnreadable(errs []error, is func(id string) bool) bool {
	return slices.ContainsFunc(errs, func(err error) bool {
		unreadable, ok := errors.AsType[*UnreadableError](err)
		return ok && is(unreadable.ID)
	})
}
