package changeset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// player plays a journal: forward, or back.
type player struct {
	journal *journal
	root    *root
	view    view
	stepper *stepper
}

func newPlayer(j *journal, r *root, opt Options) *player { return newPlayerBy(newView(r, j), j, opt) }

// newPlayerBy is newPlayer with a view of its own, say for a folder that was copied.
func newPlayerBy(v view, j *journal, opt Options) *player {
	return &player{journal: j, root: v.root, view: v, stepper: &stepper{view: v, disk: opt.system(), sync: !opt.NoSync, dirs: map[string]bool{}}}
}

// forward makes every step that has not been made.
func (p *player) forward() error {
	for _, s := range p.journal.Steps {
		if err := p.stepper.make(s); err != nil {
			return at(p.root.show(s.Path), err)
		}
	}
	return nil
}

// canForward reports whether every step was made or can be.
func (p *player) canForward() bool {
	return !slices.ContainsFunc(p.journal.Steps, func(s *step) bool { return !p.view.made(s) && !p.view.canMake(s) })
}

// changed returns the files that somebody has changed after their step was made. If there
// are any, the set cannot be taken back.
func (p *player) changed() (paths []string) {
	for _, s := range p.journal.Steps {
		if !p.view.made(s) && p.view.touched(s) {
			paths = append(paths, p.root.at(s.Path))
		}
	}
	return paths
}

// back takes back every step that was made, the last first, and removes the drafts. What
// somebody changed meanwhile is left as it is.
func (p *player) back() error {
	for _, s := range slices.Backward(p.journal.Steps) {
		if err := p.stepper.revert(s); err != nil {
			return at(p.root.show(s.Path), err)
		}
	}
	return nil
}

// commit makes the steps. If one fails, all of its batch are taken back, and failed has its
// error. Any other error means that all steps were taken back; if that is impossible, because
// somebody has changed a file meanwhile, the journal stays until a person decides, and the
// error wraps a *StuckError.
func (p *player) commit() (failed map[*batch]error, err error) {
	all := len(p.journal.Steps)
	failed, err = p.forwardApart()
	if err == nil {
		err = p.stepper.syncDirs()
	}
	if err == nil && len(p.journal.Steps) < all {
		err = p.rewrite()
	}
	if err == nil {
		_ = p.finish() // all steps are made: if this fails, the next call does it
		return failed, nil
	}
	if changed := p.changed(); len(changed) > 0 {
		return failed, errors.Join(err, &StuckError{ID: p.journal.ID, Files: changed})
	}
	if e := p.giveUp(); e != nil {
		return failed, errors.Join(err, &StuckError{ID: p.journal.ID, Err: e})
	}
	return failed, err
}

// forwardApart is forward, but if a step fails it takes back that batch and continues with the
// others.
func (p *player) forwardApart() (failed map[*batch]error, err error) {
	failed = map[*batch]error{}
	for _, s := range slices.Clone(p.journal.Steps) {
		if failed[s.part] != nil {
			continue
		}
		err := p.stepper.make(s)
		if err == nil {
			continue
		}
		err = at(p.root.show(s.Path), err)
		if !p.drop(s.part) {
			return failed, err
		}
		failed[s.part] = err
	}
	return failed, nil
}

// drop takes back the steps of one batch and takes them out of the journal. It returns false,
// and leaves them to the caller, if there are no others or they cannot be taken back.
func (p *player) drop(part *batch) bool {
	var own, others []*step
	for _, s := range p.journal.Steps {
		if s.part == part {
			own = append(own, s)
		} else {
			others = append(others, s)
		}
	}
	alone := *p.journal
	alone.Steps = own
	q := &player{journal: &alone, root: p.root, view: p.view, stepper: p.stepper}
	if len(others) == 0 || len(q.changed()) > 0 || q.back() != nil {
		return false
	}
	for _, s := range own {
		if s.Kept != "" && !absent(p.view.kept(s)) { // of a file that somebody else has replaced
			_ = p.stepper.disk.Remove(p.view.kept(s))
		}
	}
	p.journal.Steps = others
	return true
}

// rewrite writes the journal again after batches were dropped.
func (p *player) rewrite() error {
	d, sync := p.stepper.disk, p.stepper.sync
	temp, err := p.journal.write(p.root, d, sync)
	if err != nil {
		return err
	}
	if err = d.Rename(temp, p.root.own(p.journal.stem()+journalSuffix), sync); err != nil {
		return errors.Join(err, d.Remove(temp))
	}
	return nil
}

// finish renames the journal to the record of what was done.
func (p *player) finish() error {
	name := p.root.own(p.journal.stem())
	return p.stepper.disk.Rename(name+journalSuffix, name+recordSuffix, p.stepper.sync)
}

// giveUp takes all steps back and removes the journal.
func (p *player) giveUp() error {
	if err := p.back(); err != nil {
		return err
	}
	if err := p.stepper.syncDirs(); err != nil {
		return err
	}
	return p.stepper.disk.Remove(p.root.own(p.journal.stem() + journalSuffix))
}

// keepAll links what will be replaced or removed into .stchat, so that one sync of that
// folder brings the journal and what it relies on to the disk. A file that cannot be
// linked is kept when its step is made.
func (p *player) keepAll() {
	for _, s := range p.journal.Steps {
		if s.Kept != "" && p.journal.Links {
			_ = p.stepper.disk.Link(p.view.path(s), p.view.kept(s))
		}
	}
}

// keepNone undoes keepAll.
func (p *player) keepNone() (err error) {
	for _, s := range p.journal.Steps {
		if s.Kept != "" && p.journal.Links && !absent(p.view.kept(s)) {
			err = errors.Join(err, p.stepper.disk.Remove(p.view.kept(s)))
		}
	}
	return err
}

// settle takes back the steps that can be, the last first, and returns the files of the
// others. Those steps stay as a record.
func (p *player) settle(opt Options) (left []string, err error) {
	var stay []*step
	for _, s := range slices.Backward(p.journal.Steps) {
		switch {
		case !p.view.made(s) && p.view.touched(s), p.view.taken(s):
			stay = append(stay, s)
			left = append(left, p.root.at(s.Path))
			continue
		case opt.DryRun:
			continue
		}
		if err := p.stepper.revert(s); err != nil {
			return left, err
		}
	}
	if opt.DryRun {
		return left, nil
	}
	if err := p.stepper.syncDirs(); err != nil {
		return left, err
	}
	if len(stay) == 0 {
		return left, p.stepper.disk.Remove(p.root.own(p.journal.stem() + journalSuffix))
	}
	slices.Reverse(stay)
	rest := *p.journal
	rest.Steps = stay
	temp, err := rest.write(p.root, p.stepper.disk, p.stepper.sync)
	if err != nil {
		return left, err
	}
	if err := p.stepper.disk.Rename(temp, p.root.own(p.journal.stem()+recordSuffix), p.stepper.sync); err != nil {
		return left, errors.Join(err, p.stepper.disk.Remove(temp))
	}
	return left, p.stepper.disk.Remove(p.root.own(p.journal.stem() + journalSuffix))
}

// confined returns an error if a file of the journal lies outside the root, even behind a
// link: a journal from elsewhere is no reason to touch it.
func (p *player) confined() error {
	for _, s := range p.journal.Steps {
		for _, path := range []string{s.Path, s.To} {
			if path == "" {
				continue
			}
			if _, ok := below(p.root.dir, realOf(p.root.at(path))); !ok {
				return fmt.Errorf("%s: leads outside the folder, and the record is not from here", p.root.show(path))
			}
		}
	}
	return nil
}

// files returns all files of a set.
func (p *player) files() (paths []string) {
	for _, s := range p.journal.Steps {
		if s.Do == unlink {
			continue
		}
		paths = append(paths, p.root.at(s.Path))
		if s.To != "" {
			paths = append(paths, p.root.at(s.To))
		}
	}
	return paths
}

// at names path in an error instead of a draft or kept file, whose path means nothing to
// people.
func at(path string, err error) error {
	switch e := err.(type) { //nolint:errorlint // only the outermost: below it the path may matter
	case *fs.PathError:
		return fmt.Errorf("%s: %w", path, e.Err)
	case *os.LinkError:
		return fmt.Errorf("%s: %w", path, e.Err)
	}
	return err
}
