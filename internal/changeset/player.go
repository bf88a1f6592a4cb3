package changeset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// player plays a journal: each of its sets forward, or back.
type player struct {
	journal  *journal
	recorded []*step // of sets that were made and taken out of the journal
	view     view
	stepper  *stepper
}

func newPlayer(v view, j *journal, opt Options) *player {
	return &player{journal: j, view: v, stepper: &stepper{view: v, disk: opt.system(), sync: !opt.NoSync, dirs: map[string]bool{}, linked: map[string]bool{}}}
}

// resume takes out of a dead run's journal the sets that its record has already: they were made,
// and another was stuck, or the run was killed before it removed them from the journal.
func (p *player) resume() error {
	record, err := readJournal(p.view.root.own(p.journal.stem() + recordSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	p.recorded = record.Steps
	p.journal.Steps = slices.DeleteFunc(p.journal.Steps, func(s *step) bool {
		return slices.ContainsFunc(record.Steps, func(done *step) bool { return done.Part == s.Part })
	})
	return nil
}

// all returns the steps of all sets as if they were one.
func (p *player) all() *part { return p.part(0, p.journal.Steps) }

func (p *player) part(number int, steps []*step) *part {
	return &part{p.journal, number, steps, p.view, p.stepper}
}

// parts returns the sets.
func (p *player) parts() (list []*part) {
	byNumber := map[int]*part{}
	for _, s := range p.journal.Steps {
		set := byNumber[s.Part]
		if set == nil {
			set = p.part(s.Part, nil)
			byNumber[s.Part] = set
			list = append(list, set)
		}
		set.steps = append(set.steps, s)
	}
	return list
}

// commit makes the sets. Those that fail are taken back, and their errors returned by number. One
// for which that fails as well stays in the journal, and its error wraps a *StuckError.
func (p *player) commit() (failed map[int]error) {
	failed = map[int]error{}
	parts := p.parts()
	var left []*step
	giveUp := func(set *part, err error) {
		stay, err := set.giveUp(err)
		left, failed[set.number] = append(left, stay...), err
	}
	for _, set := range parts {
		if err := set.forward(); err != nil {
			giveUp(set, err)
		}
	}
	err := p.stepper.syncDirs()
	if err != nil {
		for _, set := range parts {
			if failed[set.number] == nil {
				giveUp(set, err)
			}
		}
		err = p.stepper.syncDirs()
	}
	if err == nil {
		var made, stuck []*step
		for _, set := range parts {
			switch e := failed[set.number]; {
			case e == nil:
				made = append(made, set.steps...)
			case isStuck(e):
				stuck = append(stuck, set.steps...)
			}
		}
		if err = p.close(made, left, stuck); err == nil {
			p.dropFolders(made)
		}
	}
	if err != nil { // the journal stays: the next call keeps what was made, but may make the rest as well
		for number, e := range failed {
			if !isStuck(e) {
				failed[number] = errors.Join(e, &StuckError{ID: p.journal.ID, Err: err})
			}
		}
	}
	return failed
}

// end ends each set of a dead run by itself: one that somebody has disturbed does not hold up
// the others. It returns those that ended alike as one.
func (p *player) end() []Ended {
	var all []Ended
	var left []*step
	steps := map[Way][]*step{}
	for _, set := range p.parts() {
		e, stay := set.end()
		if e.Way == Back {
			left = append(left, stay...)
		}
		steps[e.Way] = append(steps[e.Way], set.steps...)
		i := slices.IndexFunc(all, func(other Ended) bool { return other.Way == e.Way })
		if i < 0 {
			all = append(all, e)
			continue
		}
		all[i].Files, all[i].Left, all[i].Err = append(all[i].Files, e.Files...), append(all[i].Left, e.Left...), errors.Join(all[i].Err, e.Err)
	}
	err := p.stepper.syncDirs()
	if err == nil {
		err = p.close(steps[Forward], left, steps[Stuck])
	}
	if err != nil {
		return []Ended{p.all().ended(Stuck, err)}
	}
	p.dropFolders(steps[Forward])
	return all
}

// dropFolders removes the folders that were made for files which steps have removed, if nothing is
// in them by now. That comes after all else: a folder that stays does no harm.
func (p *player) dropFolders(made []*step) {
	for _, s := range made {
		dir := p.view.root.at(s.Path)
		for range s.Folders {
			dir = filepath.Dir(dir)
			info, err := os.Lstat(dir)
			if _, inside := below(p.view.root.dir, dir); s.Do != Remove || !inside || err != nil || !info.IsDir() || syscall.Rmdir(dir) != nil {
				break
			}
		}
	}
}

// close records the steps that were made and, of those of which the files were left as somebody had
// changed them, the ones for which something is kept. Only those of stuck sets stay in the journal,
// or it is removed. The record comes first: what is in both has ended.
func (p *player) close(made, left, stuck []*step) error {
	r, d, sync := p.view.root, p.stepper.disk, p.stepper.sync
	name := r.own(p.journal.stem())
	if len(made) > 0 && len(made) == len(p.journal.Steps) && len(p.recorded) == 0 {
		return at(name+journalSuffix, d.Rename(name+journalSuffix, name+recordSuffix, sync))
	}
	record := slices.Concat(p.recorded, made)
	for _, s := range left {
		if s.Kept != "" && !absent(p.view.kept(s)) {
			s.Left = true
			record = append(record, s)
		}
	}
	if len(record) > len(p.recorded) {
		if err := p.journal.writeAs(r, recordSuffix, record, d, sync); err != nil {
			return err
		}
		if sync {
			if err := d.SyncDir(r.own("")); err != nil {
				return err
			}
		}
	}
	switch len(stuck) {
	case 0:
		return at(name+journalSuffix, d.Remove(name+journalSuffix))
	case len(p.journal.Steps):
		return nil
	}
	return p.journal.writeAs(r, journalSuffix, stuck, d, sync)
}

// keepAll links what will be replaced or removed into .stchat, or copies it, so that one sync of
// that folder brings the journal and what it relies on to the disk. A large file that cannot be
// linked, and what fails here, is kept when its step is made.
func (p *player) keepAll() {
	for _, s := range p.journal.Steps {
		if s.Kept != "" && (p.journal.Links || s.Was.Size <= copied) {
			_ = second(p.stepper.disk, p.stepper.sync, s.real, p.view.kept(s))
		}
	}
}

// keepNone undoes keepAll.
func (p *player) keepNone() (err error) {
	for _, s := range p.journal.Steps {
		if s.Kept != "" && !absent(p.view.kept(s)) {
			err = errors.Join(err, p.stepper.disk.Remove(p.view.kept(s)))
		}
	}
	return err
}
