package changeset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// Way is what became of a change that a dead run left unfinished.
type Way string

// The ways in which it can end.
const (
	Forward    Way = "forward"    // it was completed
	Back       Way = "back"       // it was taken back
	Stuck      Way = "stuck"      // neither is possible: somebody has changed its files since, or a step failed
	Elsewhere  Way = "elsewhere"  // it was begun on another machine, or in another folder
	Pending    Way = "pending"    // not tried yet: a dry run leaves it
	Unreadable Way = "unreadable" // its journal cannot be read
)

// Ended is one change that a dead run left unfinished, or the sets of it that ended alike.
type Ended struct {
	Root    string
	ID      string
	Command []string
	Way     Way
	Files   []string // those changed since, if that is why it is stuck; otherwise all
	Err     error
}

// Stuck returns the error for a change that is neither completed nor taken back.
func (e *Ended) Stuck() error {
	switch e.Way {
	case Unreadable:
		return e.Err
	case Elsewhere:
		return fmt.Errorf("the change %s %w", e.ID, ErrElsewhere)
	}
	return &StuckError{ID: e.ID, Files: e.Files, Err: e.Err}
}

// StuckError means that a set can be neither completed nor taken back: its files were changed
// meanwhile, or a step failed (Err).
type StuckError struct {
	ID    string
	Files []string
	Err   error
}

func (e *StuckError) Error() string {
	text := "the change " + e.ID + " was begun, and can be neither completed nor taken back"
	if e.Err != nil { // the next call tries again
		return text + " now: " + e.Err.Error()
	}
	return text + ": somebody has changed " + strings.Join(e.Files, ", ")
}

func isStuck(err error) bool {
	_, ok := errors.AsType[*StuckError](err)
	return ok
}

func (e *StuckError) Unwrap() error { return e.Err }

// Recover ends what dead runs began in the root dir (see [RootOf]), forward or back. [Run] does
// so too; a verb that reads much before it drafts calls Recover first. A dry run only looks.
func Recover(ctx context.Context, dir string, opt Options) ([]Ended, error) {
	return recovery{newRoot(dir), opt}.run(ctx)
}

// Unfinished returns what dead runs left unfinished in the root dir, and changes nothing.
func Unfinished(ctx context.Context, dir string) ([]Ended, error) {
	return recovery{newRoot(dir), Options{DryRun: true}}.run(ctx)
}

// recovery ends what dead runs began in a root.
type recovery struct {
	root *root
	opt  Options
}

func (r recovery) run(ctx context.Context) ([]Ended, error) {
	names, err := r.root.list()
	if err != nil {
		return nil, err
	}
	var ended []Ended
	if hasJournal(names) {
		unlock, held, err := r.root.lock(ctx)
		if err != nil {
			return nil, err
		}
		defer unlock()
		if ended, _, err = r.endAll(held); err != nil {
			return ended, err
		}
	}
	if !r.opt.DryRun {
		r.sweep()
	}
	return ended, nil
}

// hasJournal reports whether a run has begun a commit, or is about to.
func hasJournal(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return strings.HasSuffix(name, journalSuffix) || strings.HasSuffix(name, journalSuffix+draftSuffix) || strings.HasSuffix(name, probeSuffix)
	})
}

// endAll ends every set that was begun, in that order. With the lock held no other run is at
// work on them; without locks the system is asked whether its process is gone. names is what
// .stchat held before.
func (r recovery) endAll(held bool) (all []Ended, names []string, err error) {
	if names, err = r.root.list(); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, journalSuffix) {
			continue
		}
		j, err := readJournal(r.root.own(name))
		if err != nil {
			all = append(all, Ended{Root: r.root.dir, ID: idOf(strings.TrimSuffix(name, journalSuffix)), Way: Unreadable, Err: err})
			continue
		}
		if !held && !safefile.ProcessGone(j.Realm, j.Pid) {
			continue
		}
		all = append(all, r.end(j)...)
	}
	if held && !r.opt.DryRun {
		r.forget(names)
	}
	r.root.stuck = nil
	for _, e := range all {
		if e.Way != Forward && e.Way != Back {
			r.root.stuck = append(r.root.stuck, e)
		}
	}
	return all, names, nil
}

// forget removes drafts of journals, probes, and what was kept for sets of which nothing else
// is left: their run died before it decided, or while it dropped their record.
func (r recovery) forget(names []string) {
	known := map[string]bool{}
	for _, name := range names {
		for _, suffix := range []string{journalSuffix, recordSuffix, asideSuffix} {
			if stem, ok := strings.CutSuffix(name, suffix); ok {
				known[stem] = true
			}
		}
	}
	for _, name := range names {
		if isKept(name) && !known[keptFor(name)] && r.opt.system().Remove(r.root.own(name)) != nil {
			return // the next call tries again
		}
	}
	for _, name := range names { // last: while they exist, hasJournal finds them and this is called again
		if strings.HasSuffix(name, journalSuffix+draftSuffix) || strings.HasSuffix(name, probeSuffix) {
			_ = r.opt.system().Remove(r.root.own(name))
		}
	}
}

// end ends what one journal began.
func (r recovery) end(j *journal) []Ended {
	p := newPlayer(newView(r.root, j), j, r.opt)
	err := p.resume()
	way := Stuck
	switch {
	case err != nil:
	case !r.root.isHome(j):
		way = Elsewhere
	case r.opt.DryRun:
		way = Pending
	default:
		return p.end()
	}
	return []Ended{p.all().ended(way, err)}
}

// refuseStuck refuses to touch a file of a set that can go neither on nor back.
func refuseStuck(stuck []Ended, plans []*plan) error {
	for _, e := range stuck {
		for _, file := range e.Files {
			for _, p := range plans {
				if file = realOf(file); file == p.real || file == p.to {
					return fmt.Errorf("%s: %w", p.Path, e.Stuck())
				}
			}
		}
	}
	return nil
}

// sweep removes the drafts of dead runs from the folders of the root, except those that a
// journal names.
func (r recovery) sweep() {
	named := map[string]bool{}
	names, _ := r.root.list()
	for _, name := range names {
		if !strings.HasSuffix(name, journalSuffix) {
			continue
		}
		j, err := readJournal(r.root.own(name))
		if err != nil {
			return // it may name any of them
		}
		for _, s := range j.Steps {
			named[s.Temp] = true
		}
	}
	user := userdir.Dir{Root: r.root.dir}
	for _, dir := range user.Folders() {
		safefile.RemoveStale(dir, named, r.root.self)
	}
	for _, dir := range user.Attachments() {
		// there may be thousands of pictures, and seldom a draft among them
		const lately = 30 * 24 * time.Hour
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) < lately {
			safefile.RemoveStale(dir, named, r.root.self)
		}
	}
	safefile.RemoveStale(r.root.dir, named, r.root.self)
	if len(names) > 0 {
		safefile.RemoveStale(r.root.own(""), named, r.root.self)
	}
}

// isSetOf reports whether stem is that of a second or later set of the call with this ID.
func isSetOf(stem, id string) bool { return strings.HasPrefix(stem, id+".") }

// Settled is the result of [Settle].
type Settled struct {
	Left  []string // files left as they are, since somebody changed them
	Aside []string // unreadable journals, under their new names
}

// Settle takes back what it can of the change id in the root dir, which was neither
// completed nor taken back (see [Unfinished]), on a person's decision. For files that are
// left as they are, the kept content stays, under the same ID. An unreadable journal is
// set aside, with all that was kept for it, until [Discard] drops it.
func Settle(ctx context.Context, dir, id string, opt Options) (done Settled, err error) {
	r := newRoot(dir)
	unlock, held, err := r.lock(ctx)
	if err != nil {
		return done, err
	}
	defer unlock()
	names, err := r.list()
	if err != nil {
		return done, err
	}
	for _, name := range names {
		stem, ok := strings.CutSuffix(name, journalSuffix)
		if !ok || stem != id && !isSetOf(stem, id) {
			continue
		}
		j, err := readJournal(r.own(name))
		if err != nil {
			aside := r.own(stem + asideSuffix)
			if !opt.DryRun {
				if err := opt.system().Rename(r.own(name), aside, !opt.NoSync); err != nil {
					return done, at(r.own(name), err)
				}
			}
			done.Aside = append(done.Aside, aside)
			continue
		}
		if !held && !safefile.ProcessGone(j.Realm, j.Pid) {
			return done, safefile.ErrBusy
		}
		v := newView(r, j)
		v.loose = v.loose || !r.isHome(j)
		p := newPlayer(v, j, opt)
		if err := p.resume(); err != nil {
			return done, err
		}
		if !r.isHome(j) {
			if err := p.all().confined(); err != nil {
				return done, err
			}
		}
		left, err := p.settle(opt)
		done.Left = append(done.Left, left...)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}
