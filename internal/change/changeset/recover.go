package changeset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"stchat/internal/change/safefile"
	"stchat/internal/place/userdir"
)

// Result is what became of a change that a dead run left unfinished.
type Result string

// The ways in which it can end.
const (
	Forward Result = "forward" // it was completed
	Back    Result = "back"    // it was taken back
	Stuck   Result = "stuck"   // taking it back failed: the next call tries again
	Foreign Result = "foreign" // its journal is from elsewhere, or cannot be read: it is set aside
	Pending Result = "pending" // not tried yet: a dry run leaves it
)

// Ended is one change that a dead run left unfinished, or the sets of it that ended alike.
type Ended struct {
	Root    string
	ID      string
	Command []string
	Result  Result
	Files   []string
	Left    []string // of one that was taken back: what stays, since somebody has changed it
	Err     error    // why it is stuck or foreign: ErrElsewhere, or a *UnreadableError
}

// StuckError means that a change is neither completed nor taken back, as a step of that failed.
// The next call tries again.
type StuckError struct {
	ID  string
	Err error // nil: it was not tried
}

func (e *StuckError) Error() string {
	text := "the change " + e.ID + " was begun, and is neither completed nor taken back"
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// LeftError means that a change was taken back but for files that somebody has changed meanwhile.
type LeftError struct{ Files []string }

func (e *LeftError) Error() string {
	return "all else is taken back, but somebody has changed this meanwhile, and it stays: " + strings.Join(e.Files, ", ")
}

func isStuck(err error) bool {
	_, ok := errors.AsType[*StuckError](err)
	return ok
}

func (e *StuckError) Unwrap() error { return e.Err }

// Recover ends what dead runs began in the root dir (see [RootOf]), forward or back. [Run] does
// so too. A dry run only looks.
func Recover(ctx context.Context, dir string, opt Options) ([]Ended, error) {
	return recovery{root: newRoot(dir), opt: opt}.run(ctx)
}

// Settle is [Recover] for a verb that reads much before it drafts. It returns what is over or set
// aside; [Run] tells of what is stuck, and of an error, again.
func Settle(ctx context.Context, dir string, opt Options) []Ended {
	ended, _ := Recover(ctx, dir, opt)
	return slices.DeleteFunc(ended, func(e Ended) bool { return e.Result == Stuck })
}

// Adopt is Recover that also ends the change id, though it was begun elsewhere and set aside: on a
// person's decision, and if its files can be recognised by size, time and content.
func Adopt(ctx context.Context, dir, id string, opt Options) ([]Ended, error) {
	return recovery{newRoot(dir), opt, id}.run(ctx)
}

// Unfinished returns what dead runs left unfinished in the root dir, also what was set aside, and
// changes nothing.
func Unfinished(ctx context.Context, dir string) ([]Ended, error) {
	r := recovery{root: newRoot(dir), opt: Options{DryRun: true}}
	ended, err := r.run(ctx)
	if err != nil {
		return nil, err
	}
	names, err := r.root.list()
	slices.Sort(names)
	for _, name := range names {
		if strings.HasSuffix(name, foreignSuffix) {
			j, err := readJournal(r.root.own(name))
			ended = append(ended, r.foreign(name, j, err))
		}
	}
	return ended, err
}

// recovery ends what dead runs began in a root.
type recovery struct {
	root  *root
	opt   Options
	adopt string // the ID of a change from elsewhere that is ended all the same
}

func (r recovery) run(ctx context.Context) ([]Ended, error) {
	names, err := r.root.look()
	if err != nil {
		return nil, err
	}
	var ended []Ended
	if hasJournal(names) || r.adopt != "" {
		unlock, held, err := r.root.lock(ctx)
		if err != nil {
			return nil, err
		}
		defer unlock()
		ended, _, err = r.endAll(held)
		if err != nil {
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
	names, err = r.root.look()
	if err != nil {
		return nil, nil, err
	}
	var begun []string
	for _, name := range names {
		aside := strings.HasSuffix(name, foreignSuffix) && idOf(name) == r.adopt
		if aside || strings.HasSuffix(name, journalSuffix) {
			begun = append(begun, name)
		}
	}

	slices.Sort(begun)
	for _, name := range begun {
		j, err := readJournal(r.root.own(name))
		if err == nil && !held && !safefile.ProcessGone(j.Realm, j.Pid) {
			continue
		}
		all = append(all, r.end(name, j, err, held)...)
	}

	if held && !r.opt.DryRun && (hasJournal(names) || !r.root.counted(names)) {
		r.forget(names)
	}
	return all, names, nil
}

// orphans returns the kept files, of these names in .stchat, of whose sets nothing else is left.
func orphans(names []string) (list []string) {
	known := map[string]bool{}
	for _, name := range names {
		for _, suffix := range []string{journalSuffix, recordSuffix, foreignSuffix} {
			if stem, ok := strings.CutSuffix(name, suffix); ok {
				known[stem] = true
			}
		}
	}

	for _, name := range names {
		if isKept(name) && !known[keptFor(name)] {
			list = append(list, name)
		}
	}
	return list
}

// forget removes drafts of journals, probes, and what was kept for sets of which nothing else
// is left: their run died before it decided, or while it dropped their record.
func (r recovery) forget(names []string) {
	for _, name := range orphans(names) {
		if r.opt.system().Remove(r.root.own(name)) != nil {
			return // the next call tries again
		}
	}
	for _, name := range names { // last: while they exist, hasJournal finds them and this is called again
		if strings.HasSuffix(name, journalSuffix+draftSuffix) || strings.HasSuffix(name, probeSuffix) {
			_ = r.opt.system().Remove(r.root.own(name))
		}
	}
}

// end ends what one journal began; err is from reading it. One that is not from here, or cannot be
// used, is set aside, so that it is told once; but while another run may be at work on it, or this
// one may not read it, it stays.
func (r recovery) end(name string, j *journal, err error, held bool) []Ended {
	path := r.root.own(name)
	begun := r.root.own(strings.TrimSuffix(name, foreignSuffix))
	begun = strings.TrimSuffix(begun, journalSuffix) + journalSuffix
	isHome := err == nil && r.root.isHome(j)
	if err == nil && (isHome || idOf(name) == r.adopt) {
		p := newPlayer(r.root, j, r.opt)
		if !isHome {
			p.loose = true
		}
		err = p.resume()
		if err == nil && !isHome {
			err = p.confined()
		}
		if err == nil && !r.opt.DryRun && path != begun { // where a kill leaves it, it is foreign again
			err = at(path, r.opt.system().Publish(path, begun, !r.opt.NoSync))
		}
		if err == nil && r.opt.DryRun {
			return []Ended{p.ended(Pending, nil)}
		}
		if err == nil {
			return p.end()
		}
	}

	e := r.foreign(name, j, err)
	isUseless := err == nil || errors.Is(err, errNoJournal) || errors.Is(err, ErrVersion)
	mayBeInUse := j == nil && !held
	if !isUseless || mayBeInUse {
		e.Result = Stuck
		return []Ended{e}
	}
	if !r.opt.DryRun && path == begun {
		aside := strings.TrimSuffix(path, journalSuffix) + foreignSuffix
		if err := r.opt.system().Publish(path, aside, !r.opt.NoSync); err != nil {
			e.Err = errors.Join(e.Err, at(path, err)) // it is reported again
		}
	}
	return []Ended{e}
}

// foreign describes a journal that is not from here, or cannot be used; err says why.
func (r recovery) foreign(name string, j *journal, err error) Ended {
	e := Ended{Root: r.root.dir, ID: idOf(name), Result: Foreign, Err: err}
	if j != nil {
		e = newPlayer(r.root, j, r.opt).ended(Foreign, err)
	}
	if err == nil {
		e.Err = fmt.Errorf("the change %s %w", e.ID, ErrElsewhere)
	}
	return e
}

// sweep removes the drafts of dead runs from the folders of the root.
func (r recovery) sweep() {
	user := userdir.Dir{Root: r.root.dir}
	dirs := append(user.Folders(), r.root.dir, r.root.own(""))
	for _, dir := range user.Attachments() {
		// there may be thousands of pictures, and seldom a draft among them
		const lately = 30 * 24 * time.Hour
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) < lately {
			dirs = append(dirs, dir)
		}
	}
	r.root.sweep(dirs...)
}

// sweep removes the temporary files that killed runs left in the folders. Each folder is looked at once.
// What a journal names stays: recovery needs it.
func (r *root) sweep(dirs ...string) {
	r.sweeping.Lock()
	defer r.sweeping.Unlock()
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return r.swept[dir] })
	if len(dirs) == 0 {
		return
	}

	spare := map[string]bool{}
	names, err := r.look()
	if err != nil {
		return // a journal that nobody can see may name any of them
	}
	for _, name := range names {
		if !strings.HasSuffix(name, journalSuffix) && !strings.HasSuffix(name, foreignSuffix) {
			continue
		}
		j, err := readJournal(r.own(name))
		if err != nil {
			return // it may name any of them
		}
		for _, s := range j.Steps {
			spare[s.Temp] = true
		}
	}

	for _, dir := range dirs {
		r.swept[dir] = true
		if dir == r.own("") { // its names were just listed
			safefile.RemoveStaleOf(dir, names, spare, r.self)
		} else {
			safefile.RemoveStale(dir, spare, r.self)
		}
	}
}
