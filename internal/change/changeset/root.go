package changeset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stchat/internal/change/safefile"
	"stchat/internal/place/userdir"
)

// RootOf returns the root of a change to path: the user's folder around it, also where SillyTavern
// looks for no chat, or else the folder that it lies in, with links followed.
func RootOf(path string) string { return new(Roots).Of(path) }

// RootFor returns the root of a new file at path that is made from another file: that of this
// one, if the new file lies in no user's folder, and there is a .stchat to record it in.
func RootFor(path, from string) string {
	if _, inUser := userAround(path); !inUser && absent(path) {
		root := RootOf(from)
		if ok, _ := (store{realOf(root)}).has(); ok {
			return root
		}
	}
	return RootOf(path)
}

// Roots is [RootOf] for many paths in few folders, which must not be moved meanwhile.
type Roots struct {
	real  userdir.Real
	users map[string]string // the user's folder around a folder; "" if there is none
}

// Of returns the root of a change to path.
func (r *Roots) Of(path string) string {
	folder := filepath.Dir(path)
	user, ok := r.users[folder]
	if !ok {
		if dir, inUser := userAround(path); inUser {
			user = userdir.RealPath(dir.Root)
		}
		if r.users == nil {
			r.users = map[string]string{}
		}
		r.users[folder] = user
	}

	if user != "" {
		return user
	}
	return filepath.Dir(r.real.Path(path))
}

// userAround returns the user's folder around a file, also around one in its folders of chats that lies
// where SillyTavern looks for none: a .stchat there would look like a character's folder.
func userAround(path string) (userdir.Dir, bool) {
	dir, ok := userdir.Enclosing(path)
	if !ok {
		dir, ok = userdir.AroundStray(path)
	}
	return dir, ok
}

// root is a folder whose files are changed together.
type root struct {
	store        // its dir is real
	given string // as it was given, made absolute
	shown string // as it was given

	self     *safefile.Self
	real     userdir.Real
	keeps    bool   // a set that only creates a file is recorded, too
	id       string // the ID of this call
	recorded bool   // it has recorded something, so the ID stays

	turn    sync.Mutex // one goroutine of the call at a time changes files
	mine    bool       // the call, with only one goroutine left, has the lock until its turn ends
	settled bool       // in this turn, what dead runs began has ended, and the call has its ID
	wrote   []string   // the names in .stchat that this turn added

	names  []string  // in .stchat, when it was read last
	stood  time.Time // when the folder had been changed last by then
	readAt time.Time // when that was; zero: never

	sweeping sync.Mutex
	swept    map[string]bool // folders

	noRecord error // why files were created without a record; reported once

	// of what is recorded, with the lock
	sets  int   // how many sets this call has recorded
	links *bool // whether there are hard links; nil: not tried yet
}

func newRoot(dir string) *root {
	r := &root{store: store{realOf(dir)}, given: dir, shown: dir, self: safefile.ThisProcess(), swept: map[string]bool{}}
	if abs, err := filepath.Abs(dir); err == nil {
		r.given = abs
	}
	ok, _ := r.has()
	r.keeps = ok || userdir.IsUserDir(r.dir)
	return r
}

// lock keeps other runs out of the root, and other goroutines of this run even where the
// system has no locks. held is false there. It waits as long as the run that has the lock gets on.
func (r *root) lock(ctx context.Context) (unlock func(), held bool, err error) {
	if r.mine {
		return func() {}, true, nil
	}
	r.turn.Lock()
	for {
		before := r.changed()
		release, held, err := safefile.Lock(ctx, r.dir)
		if errors.Is(err, safefile.ErrBusy) && !r.changed().Equal(before) {
			continue
		}
		if err != nil {
			r.turn.Unlock()
			return nil, false, fmt.Errorf("%s: %w", r.dir, err)
		}
		return func() {
			release()
			r.turn.Unlock()
		}, held, nil
	}
}

// ready makes .stchat, if it is missing, and brings its name to the disk. If it cannot be made, the
// error is a [*noRecordError].
func (r *root) ready(opt Options) error {
	made, err := r.make()
	if err != nil {
		return &noRecordError{at(r.own(""), err)}
	}
	if !made || opt.NoSync {
		return nil
	}
	if err := opt.system().SyncDir(r.dir); err != nil { // the disk fails
		return at(r.dir, err)
	}
	return nil
}

// takeTurn keeps other runs out until end is called. Where there are no locks, each commit is on its
// own. records says that something will be recorded: on some systems only .stchat can be locked.
func (r *root) takeTurn(ctx context.Context, opt Options, records bool) (end func(), err error) {
	if records {
		err := r.ready(opt)
		if _, none := errors.AsType[*noRecordError](err); err != nil && !none { // a commit without a record may do
			return nil, err
		}
	}

	unlock, held, err := r.lock(ctx)
	if err != nil {
		return nil, err
	}
	r.settled, r.wrote = false, nil
	if !held {
		unlock()
		return func() {}, nil
	}
	r.mine = true
	return func() {
		r.mine = false
		unlock()
	}, nil
}

// settle ends what dead runs began, and gives the call its ID, once in a turn. An ID of an earlier turn
// stays, unless another call has recorded something since: what comes now is after that.
func (r *root) settle(opt Options, held bool) error {
	if r.mine && r.settled {
		return nil
	}
	ended, names, err := recovery{root: r, opt: opt}.endAll(held)
	if err != nil {
		return err
	}
	newest := newestID(names)
	if !r.recorded || newest > r.id { // a try that failed gives it no place among the others
		r.id = nextID(newest, opt.Now)
		r.sets = 0
		r.recorded = false
	}

	isStuck := func(e Ended) bool { return e.Result == Stuck }
	r.settled = !slices.ContainsFunc(ended, isStuck) // else the next commit tries again
	return nil
}

// noteWritten notes what a journal adds to .stchat.
func (r *root) noteWritten(j *journal) {
	r.recorded = true
	r.wrote = append(r.wrote, j.stem()+recordSuffix)
	for _, s := range j.Steps {
		if s.Kept != "" {
			r.wrote = append(r.wrote, s.Kept)
		}
	}
}

// known returns the names in .stchat after the turn's commits, in no order. What was read in it is not
// read again.
func (r *root) known() ([]string, error) {
	if r.mine && r.settled {
		return slices.Concat(r.names, r.wrote), nil
	}
	return r.list()
}

// changed returns when something in .stchat got or lost its name last; the zero time if there is no
// such folder.
func (r *root) changed() time.Time {
	info, err := os.Lstat(r.own(""))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// look returns the names in .stchat, in no order. The folder is read again only if it may have been
// changed since: what changes it twice within a tick of the disk's clock leaves it the same time.
func (r *root) look() ([]string, error) {
	now := r.changed()
	tick := 50 * time.Millisecond
	if now.Nanosecond() == 0 {
		tick = coarsest
	}
	if !r.readAt.IsZero() && now.Equal(r.stood) && r.readAt.Sub(now) > tick {
		return r.names, nil
	}
	r.stood, r.readAt = now, time.Now()
	names, err := r.list()
	if err != nil {
		r.readAt = time.Time{}
		return nil, err
	}
	r.names = names
	return names, nil
}

// rel returns a path as a journal has it: relative to the root, with slashes. ok is false
// for one outside, which stays absolute.
func (r *root) rel(path string) (rel string, ok bool) {
	if rel, ok := r.below(r.real.Abs(path)); ok {
		return rel, true
	}
	real := realName(path)
	if rel, ok := r.below(real); ok {
		return rel, true
	}
	if rel, ok := below(r.dir, userdir.RealPath(path)); ok {
		return filepath.ToSlash(rel), true
	}
	if rel, ok := r.belowLink(r.real.Abs(path)); ok {
		return rel, true
	}
	return real, false
}

// belowLink returns an absolute path relative to the root where one of the folders that it names is the root under
// another name, and a link leads out of that.
func (r *root) belowLink(path string) (rel string, ok bool) {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if userdir.RealPath(dir) != r.dir {
			continue
		}
		rel, ok = below(dir, path)
		return filepath.ToSlash(rel), ok
	}
	return "", false
}

// below returns an absolute path relative to the root, as it was given or in fact.
func (r *root) below(path string) (rel string, ok bool) {
	for _, dir := range []string{r.given, r.dir} {
		if rel, ok := below(dir, path); ok {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// below returns the path relative to dir, or "" and false if it is not inside dir.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", false
	}
	return rel, true
}

// realName follows the links among a path's folders, but not the file itself.
func realName(path string) string {
	return filepath.Join(userdir.RealPath(filepath.Dir(path)), filepath.Base(path))
}

// realOf follows all links of a path.
func realOf(path string) string { return userdir.RealPath(path) }

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}

// sameButCase reports whether two paths are one file under two spellings of its name, of which
// the folder lists only the first. Inodes do not tell where they are not real.
func sameButCase(a, b string) bool {
	if a == b || filepath.Dir(a) != filepath.Dir(b) || !strings.EqualFold(filepath.Base(a), filepath.Base(b)) {
		return false
	}
	return !absent(a) && !absent(b) && !spelled(b)
}

// spelled reports whether the folder lists the file under exactly this spelling.
func spelled(path string) bool {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Name() == filepath.Base(path) {
			return true
		}
	}
	return false
}

// canLink reports whether the root's disk has hard links. It tries only once.
func (r *root) canLink(d *safefile.Disk) bool {
	if r.links == nil {
		probe := r.own(r.id + probeSuffix)
		ok := d.Link(r.own(".gitignore"), probe) == nil
		if ok {
			_ = d.Remove(probe)
		}
		r.links = &ok
	}
	return *r.links
}

// at returns the real path of a file in a journal.
func (r *root) at(path string) string {
	if full := filepath.FromSlash(path); filepath.IsAbs(full) {
		return full
	}
	return filepath.Join(r.dir, filepath.FromSlash(path))
}

// show returns the path of a file in a journal, spelled as the root was given.
func (r *root) show(path string) string {
	if full := filepath.FromSlash(path); filepath.IsAbs(full) {
		return full
	}
	return filepath.Join(r.shown, filepath.FromSlash(path))
}

// isHome reports whether a journal was written here: on this machine, in this folder.
func (r *root) isHome(j *journal) bool {
	dev, ino, err := safefile.FileID(r.dir)
	return err == nil && j.Host == r.self.Host() && j.Dev == dev && j.Ino == ino
}
