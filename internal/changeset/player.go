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

// newPlayerBy is newPlayer for a folder that was copied, say.
func newPlayerBy(v view, j *journal, opt Options) *player {
	return &player{journal: j, root: v.root, view: v, stepper: &stepper{view: v, disk: opt.system(), sync: !opt.NoSync, dirs: map[string]bool{}}}
}

// forward makes every step that was not made.
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

// changed returns the files that somebody has changed after their step was made: with any
// of them a set cannot be taken back.
func (p *player) changed() (paths []string) {
	for _, s := range p.journal.Steps {
		if !p.view.made(s) && p.view.touched(s) {
			paths = append(paths, p.root.at(s.Path))
		}
	}
	return paths
}

// back takes every step back that was made, the last first, and removes the drafts. What
// somebody changed meanwhile is left as it is.
func (p *player) back() error {
	for _, s := range slices.Backward(p.journal.Steps) {
		if err := p.stepper.revert(s); err != nil {
			return at(p.root.show(s.Path), err)
		}
	}
	return nil
}

// commit makes the steps. What fails is taken back; where that cannot be, because
// somebody has changed a file meanwhile, the journal stays for undo to be told what to do.
func (p *player) commit() error {
	err := p.forward()
	if err == nil {
		err = p.stepper.syncDirs()
	}
	if err == nil {
		_ = p.finish() // all is done: should this fail, the next call does it
		return nil
	}
	if changed := p.changed(); len(changed) > 0 {
		return errors.Join(err, &StuckError{ID: p.journal.ID, Files: changed})
	}
	if e := p.giveUp(); e != nil {
		return errors.Join(err, &StuckError{ID: p.journal.ID, Err: e})
	}
	return err
}

// finish makes the journal the record of what was done.
func (p *player) finish() error {
	name := p.root.own(p.journal.stem())
	return p.stepper.disk.Rename(name+journalSuffix, name+recordSuffix, p.stepper.sync)
}

// giveUp takes all steps back, and the journal away.
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
// folder brings the journal and what it relies on to the disk. What cannot be linked is
// kept when its step is made.
func (p *player) keepAll() {
	for _, s := range p.journal.Steps {
		if s.Kept != "" && p.journal.Links {
			_ = p.stepper.disk.Link(p.view.path(s), p.view.kept(s))
		}
	}
}

// keepNone takes that back.
func (p *player) keepNone() (err error) {
	for _, s := range p.journal.Steps {
		if s.Kept != "" && p.journal.Links && !absent(p.view.kept(s)) {
			err = errors.Join(err, p.stepper.disk.Remove(p.view.kept(s)))
		}
	}
	return err
}

// settle takes back the steps that can be, the last first.
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

// confined is an error where a file of the journal lies outside the root, be it behind a
// link: from elsewhere, a journal is no reason to touch it.
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

// at puts a path that tells something in place of those of drafts and kept files.
func at(path string, err error) error {
	switch e := err.(type) { //nolint:errorlint // only the outermost: below it the path may matter
	case *fs.PathError:
		return fmt.Errorf("%s: %w", path, e.Err)
	case *os.LinkError:
		return fmt.Errorf("%s: %w", path, e.Err)
	}
	return err
}
