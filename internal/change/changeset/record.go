package changeset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/change/safefile"
)

// folder is the name of the folder, in a root, for journals, records and kept files.
const folder = ".stchat"

// store is the folder .stchat of a root, with its journals, records and kept files.
type store struct{ dir string } // the root's

// own returns the path of one of its files.
func (s store) own(name string) string { return filepath.Join(s.dir, folder, name) }

// MakeFolder creates the folder .stchat of a root, if it is missing, and returns its path.
func MakeFolder(root string) (string, error) {
	s, d := store{realOf(root)}, safefile.System()
	made, err := s.make()
	if made && err == nil {
		err = d.SyncDir(s.dir)
	}
	return s.own(""), err
}

// make creates the folder with a .gitignore, private and with the root's owner. It
// completes what a killed run, or one at work, has created only in part. What it made is not
// synced.
func (s store) make() (made bool, err error) {
	dir, ignore := s.own(""), s.own(".gitignore")
	if ok, err := s.has(); err != nil || ok && !absent(ignore) {
		return false, err
	}
	err = os.Mkdir(dir, 0o700)
	if err == nil {
		safefile.AdoptFolderOwner(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	f, err := safefile.CreateNew(ignore, 0o600)
	if err == nil {
		safefile.AdoptOwner(f)
		_, err = f.WriteString("*\n")
		err = errors.Join(err, f.Close())
	}
	if errors.Is(err, fs.ErrExist) { // another run was faster
		return false, nil
	}
	return true, err
}

// has reports whether the folder exists; anything else under its name is an error.
func (s store) has() (bool, error) {
	info, err := os.Lstat(s.own(""))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, fmt.Errorf("%s: is not a folder, so changes cannot be recorded there; rename it", s.own(""))
	}
	return true, nil
}

// list returns the names in .stchat, in no order; none if there is no such folder.
func (s store) list() ([]string, error) {
	if ok, err := s.has(); !ok || err != nil {
		return nil, err
	}
	f, err := os.Open(s.own(""))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// Record is what one call did to one root, for undo.
type Record struct {
	ID       string
	Time     time.Time
	Command  []string
	Files    int    // how many were created, changed, moved or removed
	Bytes    int64  // size of what is kept for it
	Undone   bool   // also where it was taken back but for files that somebody had changed
	UndoneBy string // the ID of the record that took it back; "" where that is not known
	Undoes   string // the ID of the record that this one took back
	redoes   bool   // that record took one back; false in old records
	With     string // the ID of the first record of the call, where it took back several
	Precious bool   // never dropped unasked

	sets []*journal
}

// Records returns the records of the root dir, the newest first. errs has an error for each
// record that cannot be read; the others are returned all the same.
func Records(dir string) (records []Record, errs []error, err error) {
	return readRecords(newRoot(dir).store, nil)
}

// readRecords reads the records of a store, the newest first, up to one that enough accepts.
// Each is read once: whether it is undone, those after it say.
func readRecords(s store, enough func(*Record, []error) bool) (records []Record, errs []error, err error) {
	names, err := s.list()
	if err != nil {
		return nil, nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, recordSuffix) })
	slices.Sort(names)
	undoneBy := map[string]string{}
	for len(names) > 0 {
		first := len(names) - 1
		for first > 0 && idOf(names[first-1]) == idOf(names[len(names)-1]) {
			first--
		}
		rec, bad := readRecord(s, names[first:])
		names = names[:first]
		errs = append(errs, bad...)
		if len(rec.sets) > 0 {
			rec.UndoneBy = undoneBy[rec.ID]
			rec.Undone = rec.Undone || rec.UndoneBy != ""
			if !rec.Undone && rec.Undoes != "" {
				undoneBy[rec.Undoes] = rec.ID
			}
			records = append(records, rec)
		}

		if enough != nil && enough(&rec, errs) {
			break
		}
	}
	return records, errs, nil
}

// readRecord reads the record that is in the files with these names.
func readRecord(s store, names []string) (rec Record, errs []error) {
	for _, name := range names {
		j, err := readJournal(s.own(name))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(rec.sets) == 0 {
			rec = Record{ID: j.ID, Time: j.Time, Command: j.Command, Undoes: j.Undoes, redoes: j.Redoes, With: j.With, Undone: true}
		}
		rec.sets = append(rec.sets, j)
		rec.Precious = rec.Precious || j.Precious
		for _, st := range j.Steps {
			rec.Undone = rec.Undone && st.Left
			if st.Do != unlink {
				rec.Files++
			}
			if st.Kept == "" {
				continue
			}
			if info, err := os.Lstat(s.own(st.Kept)); err == nil {
				rec.Bytes += info.Size()
			}
		}
	}

	slices.SortFunc(rec.sets, func(a, b *journal) int { return cmp.Compare(a.Set, b.Set) })
	return rec, errs
}

// Steps returns what the call did, with paths relative to the root and with slashes. Kept is the
// name of a kept file in .stchat.
func (r *Record) Steps() (list []Step) {
	for _, set := range r.sets {
		for _, s := range set.Steps {
			if s.Left {
				continue
			}
			list = append(list, Step{Do: s.Do, Path: s.Path, To: s.To, About: s.About, Kept: s.Kept})
		}
	}
	return list
}

// drop removes the record with what was kept for it.
func (r *Record) drop(s store, opt Options) {
	if opt.DryRun {
		return
	}
	d := opt.system()
	for _, j := range r.sets {
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

// Prune drops the records of the root dir for which gone returns true, with what was kept
// for them, and returns the dropped ones. With a record goes the older one that it took back, which
// would otherwise count as not undone.
func Prune(ctx context.Context, dir string, opt Options, gone func(Record) bool) (dropped []Record, err error) {
	r := newRoot(dir)
	unlock, _, err := r.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	records, _, err := readRecords(r.store, nil)
	if err != nil {
		return nil, err
	}
	tookBack := map[string]bool{}
	for _, rec := range records {
		if !tookBack[rec.ID] && !gone(rec) {
			continue
		}
		if rec.Undoes != "" && !rec.Undone {
			tookBack[rec.Undoes] = true
		}
		dropped = append(dropped, rec)
		rec.drop(r.store, opt)
	}
	return dropped, nil
}

// Discard drops of the call id the records that cannot be read and the journals that are set aside,
// with what was kept for it. The Record that it returns counts the kept files and their bytes.
// The error wraps [ErrNoRecord] if there is nothing to drop.
func Discard(ctx context.Context, dir, id string, opt Options) (Record, error) {
	rec := Record{ID: id}
	r := newRoot(dir)
	unlock, held, err := r.lock(ctx)
	if err != nil {
		return rec, err
	}
	defer unlock()
	if _, _, err := (recovery{root: r, opt: opt}).endAll(held); err != nil {
		return rec, err
	}
	names, err := r.list()
	if err != nil {
		return rec, err
	}
	var goes, stays []string
	for _, name := range names {
		stem, foreign := strings.CutSuffix(name, foreignSuffix)
		stem, done := strings.CutSuffix(stem, recordSuffix)
		if idOf(stem) == id && done {
			_, err := readJournal(r.own(name))
			done = err != nil
		}
		if idOf(stem) == id && (foreign || done) {
			goes = append(goes, name)
		} else {
			stays = append(stays, name)
		}
	}

	if len(goes) == 0 {
		return rec, fmt.Errorf("%s: %w", id, ErrNoRecord)
	}
	for _, name := range orphans(stays) { // a journal and a record of one set share what was kept for it
		info, err := os.Lstat(r.own(name))
		if err != nil || idOf(keptFor(name)) != id {
			continue
		}
		rec.Files++
		rec.Bytes += info.Size()
		goes = append(goes, name)
	}

	for _, name := range goes {
		if opt.DryRun {
			break
		}
		if err := opt.system().Remove(r.own(name)); err != nil {
			return rec, at(r.own(name), err)
		}
	}
	return rec, nil
}

// KeptFile is an old file that a record keeps.
type KeptFile struct {
	Path string // where it was
	File string // where it is kept
	Time time.Time
	// Gone reports that the call removed the file on purpose (delete, or undo of what
	// had created it), and that this was not undone.
	Gone  bool
	Undid []string // the command that the call took back; nil: it took back none
}

// KeptFiles returns the files that the records of the root dir keep, the newest first.
// errs has an error for each record that cannot be read.
func KeptFiles(dir string) (files []KeptFile, errs []error, err error) {
	r := newRoot(dir)
	records, errs, err := readRecords(r.store, nil)
	if err != nil {
		return nil, nil, err
	}
	commands := map[string][]string{}
	for _, rec := range records {
		commands[rec.ID] = rec.Command
	}
	for _, rec := range records {
		for _, j := range rec.sets {
			for _, s := range j.Steps {
				file := filepath.Join(dir, folder, s.Kept)
				if s.Kept == "" || safefile.CheckPlain(file) != nil {
					continue
				}
				files = append(files, KeptFile{
					Path: r.show(s.Path), File: file, Time: rec.Time,
					Gone:  s.Do == Remove && (rec.Precious || rec.Undoes != "") && !rec.Undone,
					Undid: commands[rec.Undoes],
				})
			}
		}
	}
	return files, errs, nil
}
