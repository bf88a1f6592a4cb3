package changeset

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Record is what one call did to one root, for undo.
type Record struct {
	ID       string
	Time     time.Time
	Command  []string
	Files    int   // how many were created, changed, moved or removed
	Bytes    int64 // size of what is kept for it
	Undone   bool
	Undoes   string // the ID of the record that this one took back
	Precious bool   // never dropped unasked

	sets    []*journal
	written time.Time // orders records of the same second
}

// Records returns the records of the root dir, the newest first. errs has an error for each
// record that cannot be read; the others are returned all the same.
func Records(dir string) (records []Record, errs []error, err error) {
	return readRecords(newRoot(dir).store)
}

func readRecords(s store) (records []Record, errs []error, err error) {
	names, err := s.list()
	if err != nil {
		return nil, nil, err
	}
	byID := map[string]*Record{}
	for _, name := range names {
		if !strings.HasSuffix(name, recordSuffix) {
			continue
		}
		j, err := readJournal(s.own(name))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rec := byID[j.ID]
		if rec == nil {
			rec = &Record{ID: j.ID, Time: j.Time, Command: j.Command, Undoes: j.Undoes}
			byID[j.ID] = rec
		}
		rec.sets = append(rec.sets, j)
		if info, err := os.Lstat(s.own(name)); err == nil && info.ModTime().After(rec.written) {
			rec.written = info.ModTime()
		}
		rec.Precious = rec.Precious || j.Precious
		for _, st := range j.Steps {
			if st.Do != unlink {
				rec.Files++
			}
			if info, err := os.Lstat(s.own(st.Kept)); st.Kept != "" && err == nil {
				rec.Bytes += info.Size()
			}
		}
	}
	for _, rec := range byID {
		slices.SortFunc(rec.sets, func(a, b *journal) int { return cmp.Compare(a.Set, b.Set) })
		records = append(records, *rec)
	}
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(b.Time.Compare(a.Time), b.written.Compare(a.written), strings.Compare(b.ID, a.ID))
	})
	for i := range records {
		records[i].Undone = isUndone(records, records[i].ID, len(records))
	}
	return records, errs, nil
}

// isUndone reports whether a record was taken back by one that was not taken back itself. A
// stranger's records may take back each other; depth ends that.
func isUndone(records []Record, id string, depth int) bool {
	return depth > 0 && slices.ContainsFunc(records, func(rec Record) bool {
		return rec.Undoes == id && !isUndone(records, rec.ID, depth-1)
	})
}

// Steps returns what the call did, with paths relative to the root and with slashes.
func (r *Record) Steps() (list []Step) {
	for _, set := range r.sets {
		for _, s := range set.Steps {
			list = append(list, Step{Do: s.Do, Path: s.Path, To: s.To, About: s.About})
		}
	}
	return list
}

// drop removes the records for which gone returns true, and returns those that it removed.
// With a record goes the one that it took back, which would otherwise count as not undone.
func drop(s store, opt Options, records []Record, gone func(Record) bool) (dropped []Record) {
	d := opt.system()
	ids := map[string]bool{}
	for again := true; again; {
		again = false
		for _, rec := range records {
			if !ids[rec.ID] && gone(rec) {
				ids[rec.ID], again = true, true
			}
			if ids[rec.ID] && rec.Undoes != "" && !rec.Undone && !ids[rec.Undoes] {
				ids[rec.Undoes], again = true, true
			}
		}
	}
	for _, rec := range records {
		if !ids[rec.ID] {
			continue
		}
		dropped = append(dropped, rec)
		if opt.DryRun {
			continue
		}
		for _, j := range rec.sets {
			if d.Remove(s.own(j.stem()+recordSuffix)) != nil {
				continue // the record stays whole
			}
			for _, st := range j.Steps {
				if st.Kept != "" {
					_ = d.Remove(s.own(st.Kept))
				}
			}
		}
	}
	return dropped
}

// makeRoom drops the oldest records of edits when what is kept has grown too large. The
// newest record stays, and so do precious ones.
func makeRoom(s store, opt Options) []Record {
	records, _, err := readRecords(s)
	if err != nil {
		return nil
	}
	limit := opt.KeepBytes
	if limit == 0 {
		limit = KeepBytes
	}
	var held int64
	for _, rec := range records {
		held += rec.Bytes
	}
	gone := map[string]bool{}
	for i, rec := range slices.Backward(records) {
		if held <= max(limit, 0) {
			break
		}
		if i > 0 && !rec.Precious {
			gone[rec.ID] = true
			held -= rec.Bytes
		}
	}
	return drop(s, opt, records, func(rec Record) bool { return gone[rec.ID] })
}

// Prune drops the records of the root dir for which gone returns true, with what was kept
// for them, and returns the dropped ones. With a record goes the one that it took back.
func Prune(ctx context.Context, dir string, opt Options, gone func(Record) bool) ([]Record, error) {
	r := newRoot(dir)
	unlock, _, err := r.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	records, _, err := readRecords(r.store)
	if err != nil {
		return nil, err
	}
	return drop(r.store, opt, records, gone), nil
}

// Discard drops what is unreadable of the call id, records and journals set aside, with
// what was kept for it. The Record that it returns counts the kept files and their bytes.
// The error wraps [ErrNoRecord] if there is nothing to drop.
func Discard(ctx context.Context, dir, id string, opt Options) (Record, error) {
	rec := Record{ID: id}
	r := newRoot(dir)
	unlock, _, err := r.lock(ctx)
	if err != nil {
		return rec, err
	}
	defer unlock()
	names, err := r.list()
	if err != nil {
		return rec, err
	}
	found := false
	goes := map[string]bool{} // names, and stems
	drop := func(name string) error {
		if opt.DryRun {
			return nil
		}
		return at(r.own(name), opt.system().Remove(r.own(name)))
	}
	for _, name := range names {
		stem, aside := strings.CutSuffix(name, asideSuffix)
		if !aside {
			var done bool
			if stem, done = strings.CutSuffix(name, recordSuffix); !done {
				continue
			}
			if _, err := readJournal(r.own(name)); err == nil {
				continue
			}
		}
		if stem != id && !isSetOf(stem, id) {
			continue
		}
		if err := drop(name); err != nil {
			return rec, err
		}
		found, goes[name], goes[stem] = true, true, true
	}
	if !found {
		return rec, fmt.Errorf("%s: %w", id, ErrNoRecord)
	}
	for _, name := range names { // a journal and a record of one set share what was kept for it
		for _, suffix := range []string{journalSuffix, recordSuffix, asideSuffix} {
			if stem, ok := strings.CutSuffix(name, suffix); ok && !goes[name] {
				goes[stem] = false
			}
		}
	}
	for _, name := range names {
		if !isKept(name) || !goes[keptFor(name)] {
			continue
		}
		if info, err := os.Lstat(r.own(name)); err == nil {
			rec.Files, rec.Bytes = rec.Files+1, rec.Bytes+info.Size()
		}
		if err := drop(name); err != nil {
			return rec, err
		}
	}
	return rec, nil
}
