package changeset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// RootOf returns the root of a change to path: the user's folder around it, else the
// folder that it lies in. Paths are followed to where they lead.
func RootOf(path string) string {
	if dir, ok := userdir.Enclosing(path); ok {
		return userdir.RealPath(dir.Root)
	}
	return filepath.Dir(userdir.RealPath(path))
}

// turnFile names the file in .stchat that holds the ID of the call which was last to change
// something.
const turnFile = "turn"

// root is a folder whose files are changed together.
type root struct {
	store        // its dir is real
	given string // as it was given, made absolute
	shown string // as it was given

	self  *safefile.Self
	id    string  // of this call
	stuck []Ended // what was begun there and could not be ended

	turn  sync.Mutex // one goroutine of the call at a time changes files
	mu    sync.Mutex
	sets  int   // that this call has recorded
	links *bool // whether hard links are to be had
}

func newRoot(dir string) *root {
	r := &root{store: store{realOf(dir)}, given: dir, shown: dir, self: safefile.Own()}
	if abs, err := filepath.Abs(dir); err == nil {
		r.given = abs
	}
	return r
}

// lock keeps other runs off the root, and the other goroutines of this one, which the
// system's lock does not do where there is none.
func (r *root) lock(ctx context.Context) (unlock func(), held bool, err error) {
	r.turn.Lock()
	release, held, err := safefile.Lock(ctx, r.dir)
	if err != nil {
		r.turn.Unlock()
		return nil, false, fmt.Errorf("%s: %w", r.dir, err)
	}
	return func() {
		release()
		r.turn.Unlock()
	}, held, nil
}

// takeTurn notes, under the lock, that this call is the last to change something, so that it
// need not look again what others have begun: .stchat may hold thousands of names.
func (r *root) takeTurn() {
	if r.id != "" {
		_ = os.WriteFile(r.own(turnFile), []byte(r.id), 0o600) // without it more is read
	}
}

// loseTurn lets the next change look again: this one may have left something begun.
func (r *root) loseTurn() { _ = os.Remove(r.own(turnFile)) }

// isTurn reports, under the lock, whether no other call took its turn since this one did.
func (r *root) isTurn() bool {
	last, err := os.ReadFile(r.own(turnFile))
	return err == nil && r.id != "" && string(last) == r.id
}

// rel returns a path as a journal has it: relative to the root, with slashes. ok is false
// for one outside, which stays absolute.
func (r *root) rel(path string) (rel string, ok bool) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path, false
	}
	for _, p := range []string{abs, realName(path)} {
		for _, dir := range []string{r.given, r.dir} {
			if rel, ok := below(dir, p); ok {
				return filepath.ToSlash(rel), true
			}
		}
	}
	if rel, ok := below(r.dir, userdir.RealPath(path)); ok {
		return filepath.ToSlash(rel), true
	}
	return realName(path), false
}

// below returns the part of a path behind a folder, "" and false where it is not in it.
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

// sameButCase reports whether two paths are one file under two spellings of its name.
func sameButCase(a, b string) bool {
	if a == b || !strings.EqualFold(filepath.Base(a), filepath.Base(b)) {
		return false
	}
	return sameFile(a, b) && filepath.Dir(a) == filepath.Dir(b) && !spelled(b)
}

// spelled reports whether a folder lists a file under just this spelling.
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

// nextSet counts the sets of a call.
func (r *root) nextSet() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sets++
	return r.sets
}

// canLink tries once whether the root's disk has hard links.
func (r *root) canLink(d *safefile.Disk) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
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

// at is the real path of a file of the journal.
func (r *root) at(path string) string {
	if full := filepath.FromSlash(path); filepath.IsAbs(full) {
		return full
	}
	return filepath.Join(r.dir, filepath.FromSlash(path))
}

// show is a file of the journal as its root was given.
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
