package changeset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// part is one set of a journal: what is made or taken back as a whole.
type part struct {
	journal *journal
	number  int
	steps   []*step
	view    view
	stepper *stepper
}

// forward makes every step that has not been made.
func (p *part) forward() error {
	for _, s := range p.steps {
		if err := p.stepper.make(s); err != nil {
			return at(p.view.root.show(s.Path), err)
		}
	}
	return nil
}

// canForward reports whether every step was made or can be.
func (p *part) canForward() bool {
	return !slices.ContainsFunc(p.steps, func(s *step) bool { return !p.view.made(s) && !p.view.canMake(s) })
}

// changed returns the files that somebody has changed after their step was made. If there
// are any, the set cannot be taken back.
func (p *part) changed() (paths []string) {
	for _, s := range p.steps {
		if !p.view.made(s) && p.view.touched(s) {
			paths = append(paths, p.view.root.at(s.Path))
		}
	}
	return paths
}

// back takes back every step that was made, the last first, and removes the drafts. What
// somebody changed meanwhile is left as it is.
func (p *part) back() error {
	for _, s := range slices.Backward(p.steps) {
		if err := p.stepper.revert(s); err != nil {
			return at(p.view.root.show(s.Path), err)
		}
	}
	return nil
}

// giveUp takes the set back after err, and returns that. If it cannot be taken back, the error
// wraps a *StuckError as well.
func (p *part) giveUp(err error) error {
	if changed := p.changed(); len(changed) > 0 {
		return errors.Join(err, &StuckError{ID: p.journal.ID, Files: changed})
	}
	if e := p.back(); e != nil {
		return errors.Join(err, &StuckError{ID: p.journal.ID, Err: e})
	}
	return err
}

// end ends what a dead run began: forward if that is possible, otherwise back.
func (p *part) end() Ended {
	if p.canForward() {
		return p.ended(Forward, p.forward())
	}
	if changed := p.changed(); len(changed) > 0 {
		e := p.ended(Stuck, nil)
		e.Files = changed
		return e
	}
	return p.ended(Back, p.back())
}

// ended describes how the set ended; with an error it is stuck.
func (p *part) ended(way Way, err error) Ended {
	if err != nil {
		way = Stuck
	}
	return Ended{Root: p.view.root.dir, ID: p.journal.ID, Command: p.journal.Command, Way: way, Files: p.files(), Err: err}
}

// confined returns an error if a file of the set lies outside the root, even behind a link: a
// journal from elsewhere is no reason to touch it.
func (p *part) confined() error {
	r := p.view.root
	for _, s := range p.steps {
		for _, path := range []string{s.Path, s.To} {
			if path == "" {
				continue
			}
			if _, ok := below(r.dir, realOf(r.at(path))); !ok {
				return fmt.Errorf("%s: leads outside the folder, and the record is not from here", r.show(path))
			}
		}
	}
	return nil
}

// files returns all files of the set.
func (p *part) files() (paths []string) {
	for _, s := range p.steps {
		if s.Do == unlink {
			continue
		}
		paths = append(paths, p.view.root.at(s.Path))
		if s.To != "" {
			paths = append(paths, p.view.root.at(s.To))
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
