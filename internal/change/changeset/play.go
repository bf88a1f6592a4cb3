package changeset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"stchat/internal/change/safefile"
)

// copied is the largest file, in bytes, that is copied to keep or move it where it cannot be
// linked; a larger one is renamed.
const copied = 64 << 20

// player plays a journal: each of its sets forward, or back.
type player struct {
	judge
	root     *root
	journal  *journal
	recorded []*step // of sets that were made and taken out of the journal
	changes  []*change
	disk     *safefile.Disk
	sync     bool
	dirs     map[string]bool // folders whose names changed
	// linked are those in which moved files got the names that they keep. They are synced before
	// the files' other names go, or a power loss could leave them without any.
	linked map[string]bool
}

func newPlayer(r *root, j *journal, opt Options) *player {
	return &player{
		judge: judge{j.Links, !j.Links}, root: r, journal: j, changes: changesOf(r, j.Steps),
		disk: opt.system(), sync: !opt.NoSync, dirs: map[string]bool{}, linked: map[string]bool{},
	}
}

// journalSet is one set of a journal, what is made or taken back as a whole, and how it ended.
type journalSet struct {
	number  int
	changes []*change
	result  Result    // Forward, Back, or Stuck if taking it back failed
	left    []*change // of one that was taken back: those that stay
	err     error     // why it was not made
}

// sets returns the sets of the journal.
func (p *player) sets() (list []*journalSet) {
	byNumber := map[int]*journalSet{}
	for _, c := range p.changes {
		set := byNumber[c.Part]
		if set == nil {
			set = &journalSet{number: c.Part}
			byNumber[c.Part] = set
			list = append(list, set)
		}
		set.changes = append(set.changes, c)
	}
	return list
}

// resume takes out of a dead run's journal the sets that its record has already: they were made,
// and another was stuck, or the run was killed before it removed them from the journal.
func (p *player) resume() error {
	record, err := readJournal(p.root.own(p.journal.stem() + recordSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	p.recorded = record.Steps
	p.changes = slices.DeleteFunc(p.changes, func(c *change) bool {
		return slices.ContainsFunc(record.Steps, func(done *step) bool { return done.Part == c.Part })
	})
	return nil
}

// play makes each set, or takes it back: of a dead run's one that cannot be made, and one that
// fails. Then it records what was made, and ends the journal; an error says that it stays.
func (p *player) play(dead bool) (sets []*journalSet, err error) {
	sets = p.sets()
	for _, set := range sets {
		mayMake := !dead || p.canEnd(set)
		if mayMake {
			set.result = Forward
			set.err = p.forward(set, dead)
		}
		if !mayMake || set.err != nil {
			p.back(set)
		}
	}

	err = p.syncDirs()
	if err != nil {
		for _, set := range sets {
			if set.result == Forward {
				set.err = err
				p.back(set)
			}
		}
		err = p.syncDirs()
	}
	if err == nil {
		err = p.close(sets)
	}
	if err == nil {
		p.dropFolders(sets)
	}
	return sets, err
}

// canEnd reports whether every change of a dead run's set was made or can be, but for files that
// somebody has saved since.
func (p *player) canEnd(set *journalSet) bool {
	for _, c := range set.changes {
		if !p.made(c) && !p.canMake(c) && !p.savedSince(c) {
			return false
		}
	}
	return true
}

// forward makes every change that has not been made; of a dead run, but for files that somebody has
// saved since.
func (p *player) forward(set *journalSet, dead bool) error {
	for _, c := range set.changes {
		if dead && p.savedSince(c) {
			continue
		}
		if err := p.make(c); err != nil {
			return at(p.root.show(c.Path), err)
		}
	}
	return nil
}

// back takes a set back, but for files that stay as somebody has left them.
func (p *player) back(set *journalSet) {
	set.result = Back
	var goes []*change
	for _, c := range set.changes {
		if p.stays(c) {
			set.left = append(set.left, c)
		} else {
			goes = append(goes, c)
		}
	}
	if err := p.revert(goes); err != nil {
		set.result = Stuck
		set.left = nil
		set.err = errors.Join(set.err, &StuckError{ID: p.journal.ID, Err: err})
		return
	}

	if len(set.left) > 0 {
		set.err = errors.Join(set.err, &LeftError{p.files(set.left, oneName)})
	}
}

// commit makes the sets of a new journal. It returns by number the errors of those that were not
// made. One that could not be taken back either wraps a *StuckError.
func (p *player) commit() map[int]error {
	failed := map[int]error{}
	sets, err := p.play(false)
	for _, set := range sets {
		failed[set.number] = set.err
		// If the journal stays, the next call keeps what was made, but may make the rest as well.
		journalStays := err != nil
		if journalStays && set.result == Back {
			failed[set.number] = errors.Join(set.err, &StuckError{ID: p.journal.ID, Err: err})
		}
	}
	return failed
}

// end ends what a dead run began. It returns the sets that ended alike as one.
func (p *player) end() []Ended {
	sets, err := p.play(true)
	if err != nil {
		return []Ended{p.ended(Stuck, err)}
	}
	var all []Ended
	for _, set := range sets {
		i := slices.IndexFunc(all, func(e Ended) bool { return e.Result == set.result })
		if i < 0 {
			i = len(all)
			all = append(all, Ended{Root: p.root.dir, ID: p.journal.ID, Command: p.journal.Command, Result: set.result})
		}
		e := &all[i]
		e.Files = append(e.Files, p.files(set.changes, bothNames)...)
		e.Left = append(e.Left, p.files(set.left, oneName)...)
		if set.result == Stuck {
			e.Err = errors.Join(e.Err, set.err)
		}
	}
	return all
}

// ended describes all sets as if they had ended with one result.
func (p *player) ended(result Result, err error) Ended {
	return Ended{
		Root:    p.root.dir,
		ID:      p.journal.ID,
		Command: p.journal.Command,
		Result:  result,
		Files:   p.files(p.changes, bothNames),
		Err:     err,
	}
}

// confined returns an error if a file lies outside the root, even behind a link: a journal from
// elsewhere is no reason to touch it.
func (p *player) confined() error {
	for _, c := range p.changes {
		if _, ok := below(p.root.dir, realOf(p.root.at(c.name))); !ok {
			return fmt.Errorf("%s: leads outside the folder, and the record is not from here", p.root.show(c.name))
		}
	}
	return nil
}

// moveNames says which names files returns of a file that moved.
type moveNames int

const (
	oneName   moveNames = 1 // the old one
	bothNames moveNames = 2
)

// files returns the files of changes.
func (p *player) files(changes []*change, names moveNames) (paths []string) {
	for _, c := range changes {
		isMove := c.To != ""
		if isMove && c.after == nil {
			continue // its other half has it
		}
		paths = append(paths, p.root.at(c.Path))
		if isMove && names == bothNames {
			paths = append(paths, p.root.at(c.To))
		}
	}
	return paths
}

// close records the changes that were made and, of those of which the files were left as somebody had
// changed them, the ones for which something is kept. Only those of stuck sets stay in the journal,
// or it is removed. The record comes first: what is in both has ended.
func (p *player) close(sets []*journalSet) error {
	name := p.root.own(p.journal.stem())
	record := slices.Clone(p.recorded)
	var stuck []*step
	allMade := len(p.recorded) == 0
	for _, set := range sets {
		if set.result != Forward {
			allMade = false
		}
		for _, c := range set.changes {
			wasLeft := set.result == Back && slices.Contains(set.left, c)
			if wasLeft && c.Kept != "" && !absent(c.kept) {
				c.Left = true
			}
			switch {
			case c.Do == Move && c.after == nil: // its other half is the same step
			case set.result == Forward || c.Left:
				record = append(record, c.step)
			case set.result == Stuck:
				stuck = append(stuck, c.step)
			}
		}
	}

	if allMade && len(record) > 0 {
		return at(name+journalSuffix, p.disk.Rename(name+journalSuffix, name+recordSuffix, p.sync))
	}

	if len(record) > len(p.recorded) {
		if err := p.writeRecord(record); err != nil {
			return err
		}
	}

	switch len(stuck) {
	case 0:
		return at(name+journalSuffix, p.disk.Remove(name+journalSuffix))
	case len(p.journal.Steps):
		return nil
	}
	return p.journal.writeAs(p.root, journalSuffix, stuck, p.disk, p.sync)
}

// writeRecord writes a record of steps beside the journal.
func (p *player) writeRecord(steps []*step) error {
	err := p.journal.writeAs(p.root, recordSuffix, steps, p.disk, p.sync)
	if err != nil || !p.sync {
		return err
	}
	return p.disk.SyncDir(p.root.own(""))
}

// dropFolders removes the folders that were made for files which changes have removed, if nothing is
// in them by now. That comes after all else: a folder that stays does no harm.
func (p *player) dropFolders(sets []*journalSet) {
	for _, set := range sets {
		if set.result != Forward {
			continue
		}
		for _, c := range set.changes {
			if c.after == nil {
				p.dropFoldersOf(c)
			}
		}
	}
}

// dropFoldersOf removes the folders that were made for a file, the innermost first.
func (p *player) dropFoldersOf(c *change) {
	dir := c.path
	for range c.Folders {
		dir = filepath.Dir(dir)
		_, isInside := below(p.root.dir, dir)
		info, err := os.Lstat(dir)
		isFolder := err == nil && info.IsDir() // and no link to one
		if !isInside || !isFolder || syscall.Rmdir(dir) != nil {
			return
		}
	}
}

// keepAll links what will be replaced or removed into .stchat, or copies it, so that one sync of
// that folder brings the journal and what it relies on to the disk. A large file that cannot be
// linked, and what fails here, is kept when its change is made.
func (p *player) keepAll() {
	for _, c := range p.changes {
		if c.Kept != "" && (p.links || c.Was.Size <= copied) {
			_ = second(p.disk, p.sync, c.path, c.kept)
		}
	}
}

// keepNone undoes keepAll.
func (p *player) keepNone() (err error) {
	for _, c := range p.changes {
		if c.Kept != "" && !absent(c.kept) {
			err = errors.Join(err, p.disk.Remove(c.kept))
		}
	}
	return err
}

// make makes a change unless it has been made.
func (p *player) make(c *change) error {
	p.dirs[filepath.Dir(c.path)] = true
	if c.Do == link {
		p.linked[filepath.Dir(c.path)] = true
	}
	if p.made(c) {
		if c.Do == Create && p.is(c.draft, c.after) {
			return p.disk.Remove(c.draft)
		}
		return nil
	}

	if c.Do == unlink { // before the last look at the file: it may take long
		if err := p.syncLinked(); err != nil {
			return err
		}
	}

	if !p.canMake(c) {
		return fmt.Errorf("%s: %w", p.root.at(c.Path), safefile.ErrChanged)
	}
	if c.Kept != "" {
		if err := p.keep(c); err != nil {
			return err
		}
	}

	switch {
	case c.after == nil && absent(c.path): // it was renamed to keep it
		return nil
	case c.after == nil:
		return p.disk.Remove(c.path)
	case c.before != nil:
		return p.disk.Rename(c.draft, c.path, p.sync)
	case c.Do == link:
		return p.double(c.draft, c.path)
	}
	return p.rename(c.draft, c.path)
}

// unmake takes back a change that was made.
func (p *player) unmake(c *change) error {
	if isKept(c.Temp) && !absent(c.path) { // the kept file was the draft: undo, without links
		if err := p.disk.Publish(c.path, c.draft, p.sync); err != nil || c.before == nil {
			return err
		}
	}

	switch c.Do {
	case Create:
		return p.disk.Remove(c.path)
	case link:
		if err := p.syncLinked(); err != nil {
			return err
		}
		if !p.is(c.draft, c.after) && !c.linked() {
			return fmt.Errorf("%s: %w", c.draft, safefile.ErrChanged)
		}
		return p.disk.Remove(c.path)
	case unlink:
		p.linked[filepath.Dir(c.path)] = true
		return p.double(c.kept, c.path)
	case Move: // the old name's half renames
		if c.before == nil {
			return nil
		}
		return p.rename(c.kept, c.path)
	}

	put := p.rename
	if c.after != nil {
		put = func(from, to string) error { return p.disk.Rename(from, to, p.sync) }
	}
	if !p.links && c.Was.Size > copied && put(c.kept, c.path) == nil { // it was renamed
		return nil
	}
	return p.bring(c.kept, c.path, put)
}

// revert takes back the changes that were made, the last first, and then removes what they leave:
// the other names of a file must be on the disk by then, or a power loss could leave it without any.
func (p *player) revert(changes []*change) error {
	for _, c := range slices.Backward(changes) {
		p.dirs[filepath.Dir(c.path)] = true
		if p.made(c) || p.gap(c) || c.linked() {
			if err := p.unmake(c); err != nil {
				return at(p.root.show(c.Path), err)
			}
		}
	}
	if err := p.syncDirs(); err != nil {
		return err
	}
	for _, c := range slices.Backward(changes) {
		if err := p.clean(c); err != nil {
			return at(p.root.show(c.Path), err)
		}
	}
	return nil
}

// clean removes the draft of a change that was taken back, and what was kept.
func (p *player) clean(c *change) error {
	// While the draft exists, the file was not replaced, so nothing is kept for undo. The draft
	// goes last: without it a kept file could be of a replacement.
	drafted := c.Temp != "" && p.is(c.draft, c.after)
	var errs []error
	keeps := c.Kept != "" && !absent(c.kept)
	if keeps && (drafted || p.isKept(c.path, c.before) || sameFile(c.path, c.kept)) {
		errs = append(errs, p.disk.Remove(c.kept))
		p.dirs[p.root.own("")] = true // before the journal goes, or it would stay for good
	}
	if drafted && !isKept(c.Temp) {
		errs = append(errs, p.disk.Remove(c.draft))
	}
	return errors.Join(errs...)
}

// double gives a file a second name, or where there are no hard links copies it.
func (p *player) double(from, to string) error {
	if p.links {
		return p.disk.Link(from, to)
	}
	return p.bring(from, to, p.rename)
}

// bring gives the file a second name as put does. It is a link; where there can be none, a copy.
func (p *player) bring(from, to string, put func(from, to string) error) error {
	temp := filepath.Join(filepath.Dir(to), safefile.TempName())
	if err := second(p.disk, p.sync, from, temp); err != nil {
		return err
	}
	if err := put(temp, to); err != nil {
		return errors.Join(err, p.disk.Remove(temp))
	}
	return nil
}

// rename gives a file another name that is free or reserved, or its own in another letter case.
func (p *player) rename(from, to string) error {
	if sameButCase(from, to) || p.placeholder(to) {
		return p.disk.Rename(from, to, p.sync)
	}
	return p.disk.Publish(from, to, p.sync)
}

// keep makes sure that the old file is where undo finds it, and is the one that was judged. What
// [player.keepAll] could not link or copy before the decision is renamed if it is large.
func (p *player) keep(c *change) error {
	path, kept := c.path, c.kept
	if absent(path) {
		return nil // the gap of a rename, see judge.gap
	}
	if !absent(kept) {
		return at(path, p.checkKept(kept, c.before)) // may have changed since it was kept
	}
	isTooLargeToCopy := !p.links && c.before.Size > copied
	if !isTooLargeToCopy || !p.keepByRename(path, kept) {
		if err := second(p.disk, p.sync, path, kept); err != nil {
			return err
		}
		if p.sync { // or a power loss could leave neither
			if err := p.disk.SyncDir(p.root.own("")); err != nil {
				return err
			}
		}
	}
	if err := at(path, p.checkKept(kept, c.before)); err != nil {
		if absent(path) { // it was renamed, and somebody's save with it
			return errors.Join(err, p.disk.Publish(kept, path, p.sync))
		}
		return errors.Join(err, p.disk.Remove(kept))
	}
	return nil
}

// keepByRename renames the old file to keep it, and reports whether it could.
func (p *player) keepByRename(path, kept string) bool {
	if p.disk.RenameNew(path, kept, p.sync) == nil {
		return true
	}
	return absent(kept) && p.disk.Rename(path, kept, p.sync) == nil
}

// syncDirs forces to disk the folders whose names changed.
func (p *player) syncDirs() error { return p.syncAll(p.dirs) }

// syncLinked forces to disk the names that moved files keep.
func (p *player) syncLinked() error {
	err := p.syncAll(p.linked)
	clear(p.linked)
	return err
}

func (p *player) syncAll(dirs map[string]bool) error {
	if !p.sync {
		return nil
	}
	for dir := range dirs {
		if err := p.disk.SyncDir(dir); err != nil {
			return at(dir, err)
		}
	}
	return nil
}

// second gives a file a second name that is free, and is this program's: a link, otherwise a copy.
func second(disk *safefile.Disk, sync bool, from, to string) error {
	if disk.Link(from, to) == nil {
		return nil
	}
	return copyFile(disk, sync, from, to)
}

// copyFile copies a file with its mode, owner and time, so that the copy is recognised as the
// file, and stands in for it.
func copyFile(disk *safefile.Disk, sync bool, from, to string) (err error) {
	in, err := safefile.OpenPlain(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(to), safefile.TempName())
	out, err := safefile.CreateNew(temp, 0o600)
	if err != nil {
		return err
	}
	safefile.AdoptOwnerOf(out, info)
	stamp := func() error { // exFAT in user space ignores one time alone
		return errors.Join(os.Chmod(temp, info.Mode().Perm()), os.Chtimes(temp, info.ModTime(), info.ModTime()))
	}
	if _, err = io.Copy(out, in); err == nil {
		err = stamp() // what is synced includes it
	}
	if err == nil && sync {
		err = disk.Sync(out)
	}
	err = errors.Join(err, disk.CloseFile(out))
	if err == nil && runtime.GOOS == "windows" { // which may set the time on closing
		err = stamp()
	}
	if err == nil {
		err = disk.Rename(temp, to, sync)
	}
	if err != nil {
		_ = disk.Remove(temp)
	}
	return err
}

// sameDisk reports whether two files lie on one disk, judging by their folders.
func sameDisk(a, b string) bool {
	x, _, err := safefile.FileID(filepath.Dir(a))
	y, _, err2 := safefile.FileID(filepath.Dir(b))
	return err != nil || err2 != nil || x == y
}
