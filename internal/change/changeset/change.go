package changeset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"stchat/internal/change/safefile"
	"stchat/internal/place/userdir"
)

// change is what a step of a journal makes of one path: of the file before, the file after. A move
// is two: the new name comes, and the old one goes.
type change struct {
	*step
	name          string          // the path as the journal has it
	path          string          // with the links of a replaced file followed
	before, after *safefile.Ident // nil: no file
	kept, draft   string          // the second names of these: in .stchat and beside the path, or the other one of a move
}

// changesOf returns the changes of steps. Links are followed once, so that all that is done for a
// step is done to one file.
func changesOf(r *root, steps []*step) (list []*change) {
	var real userdir.Real
	for _, s := range steps {
		path, to := r.at(s.Path), r.at(s.To)
		if s.Do == Replace {
			path = real.Path(path)
		}
		draft := filepath.Join(filepath.Dir(path), s.Temp)
		if isKept(s.Temp) {
			draft = r.own(s.Temp)
		}
		switch s.Do {
		case Create:
			list = append(list, &change{step: s, name: s.Path, path: path, after: s.Now, draft: draft})
		case Replace:
			list = append(list, &change{step: s, name: s.Path, path: path, before: s.Was, kept: r.own(s.Kept), after: s.Now, draft: draft})
		case Remove:
			list = append(list, &change{step: s, name: s.Path, path: path, before: s.Was, kept: r.own(s.Kept)})
		}

		if s.Do == link || s.Do == Move {
			list = append(list, &change{step: s, name: s.To, path: to, after: s.Was, draft: path})
		}
		if s.Do == unlink || s.Do == Move {
			list = append(list, &change{step: s, name: s.Path, path: path, before: s.Was, kept: to})
		}
	}
	return list
}

// judge finds out what has become of changes. It goes only by what is on the disk, so that a run
// that ends a dead run's change sees what that run would have seen.
type judge struct {
	links bool // the disk has hard links
	// loose recognises files by size, hash and roughly by time instead of by inode: in a
	// folder that was copied, and where inodes are not real and times are rounded.
	loose bool
}

// is reports whether the file at path is the one that id identifies; a nil id means that
// there is none.
func (j judge) is(path string, id *safefile.Ident) bool {
	if id == nil {
		return absent(path)
	}
	now, err := safefile.IdentOf(path, hashedIf(j.loose && id.Hash != ""))
	return err == nil && sameIdent(now, *id, j.loose)
}

// isKept is like is, for a kept file, which may be a copy.
func (j judge) isKept(path string, id *safefile.Ident) bool { return j.checkKept(path, id) == nil }

// checkKept is isKept with the reason: safefile.ErrChanged, or that the file cannot be
// read. A file's content is read only where nothing else decides.
func (j judge) checkKept(path string, id *safefile.Ident) error {
	if !j.loose && j.is(path, id) {
		return nil
	}
	now, err := safefile.IdentOf(path, hashedIf(id.Hash != ""))
	if err == nil && !sameIdent(now, *id, true) {
		err = &fs.PathError{Op: "compare", Path: path, Err: safefile.ErrChanged}
	}
	return err
}

// holds reports whether the path of a change holds the file that id identifies. A file that the
// folder lists under its other spelling only is not there.
func (j judge) holds(c *change, id *safefile.Ident) bool {
	if c.Do == Move && sameButCase(c.kept+c.draft, c.path) {
		return id == nil
	}
	return j.is(c.path, id)
}

// made reports whether a change has been made.
func (j judge) made(c *change) bool {
	return j.holds(c, c.after) && (c.after != nil || j.isKept(c.kept, c.before))
}

// canMake reports whether a change that has not been made can be: its path is as it was, and the
// file that comes is there.
func (j judge) canMake(c *change) bool {
	isReserved := c.before == nil && j.placeholder(c.path)
	isAsBefore := isReserved || j.holds(c, c.before) || j.gap(c)
	comes := c.after == nil || j.is(c.draft, c.after)
	return isAsBefore && comes
}

// gap reports whether a change stopped between the two renames that replace a large file
// where there are no hard links: the old file has been renamed to keep it, the new one has
// no name yet.
func (j judge) gap(c *change) bool {
	return c.Do == Replace && !j.links && absent(c.path) && j.isKept(c.kept, c.before)
}

// placeholder reports whether path is an empty file that reserves a name, as is done where
// there is no other way to put a file in place.
func (j judge) placeholder(path string) bool {
	info, err := os.Lstat(path)
	return !j.links && err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// stays reports whether a change cannot be taken back without touching what somebody has put there
// since, or under the old name of a file that moved; or since what was kept is gone.
func (j judge) stays(c *change) bool {
	switch {
	case !j.made(c):
		return j.touched(c)
	case c.before == nil:
		return c.Temp == "" && !absent(c.draft) && !j.is(c.draft, c.after)
	}
	return !j.isKept(c.kept, c.before)
}

// touched reports, for a change that does not look made, whether it was made and its file was
// changed since; true if that cannot be known.
func (j judge) touched(c *change) bool {
	if c.before == nil && absent(c.path) {
		return false
	}
	if c.before != nil && (absent(c.kept) || j.isKept(c.path, c.before)) {
		return false
	}
	if c.after != nil && j.is(c.draft, c.after) { // the draft is gone only if it got its name, or was taken back
		return false
	}
	if c.Temp != "" || c.Do == Move {
		return true
	}
	// a file that only got another name is where it was, also if it was saved in place
	otherName := c.kept + c.draft // it has one of them
	return !sameFile(c.path, otherName)
}

// savedSince reports, for a change that does not look made, whether somebody has saved its file since
// under the new name, or another file under the old name of one that moved.
func (j judge) savedSince(c *change) bool {
	if j.made(c) {
		return false
	}
	losesName := c.To != "" && c.after == nil
	if losesName {
		return j.movedAndSaved(c)
	}
	return c.before == nil && newNameSaved(c)
}

// movedAndSaved reports of the old name of a file that moved whether it is free, and somebody has saved
// another version under the new name; or whether the file is there, and somebody has saved another one
// under the old name.
func (j judge) movedAndSaved(c *change) bool {
	if absent(c.kept) {
		return false
	}
	isTheFile := j.isKept(c.path, c.before) || sameFile(c.path, c.kept)
	if isTheFile {
		return false
	}
	return absent(c.path) || j.isKept(c.kept, c.before)
}

// newNameSaved reports whether a new name has another file than the draft, which was there.
func newNameSaved(c *change) bool {
	if absent(c.path) {
		return false
	}
	isDraft := c.Temp != "" && sameFile(c.path, c.draft) // saved in place since
	return isDraft || absent(c.draft)
}

// linked reports whether the file of a move still has both names, whatever is in it.
func (c *change) linked() bool { return c.Do == link && sameFile(c.draft, c.path) }

func sameIdent(a, b safefile.Ident, loose bool) bool {
	if loose {
		apart := time.Duration(a.Mtime - b.Mtime).Abs()
		return a.Size == b.Size && a.Hash == b.Hash && apart <= coarsest
	}
	return a.Size == b.Size && a.Mtime == b.Mtime && a.Ino == b.Ino
}

// The sizes, in bytes, of the largest files whose hash is recorded: of those that are drafted or
// moved, and of those that are kept, which their inode identifies.
const (
	hashed     = 64 << 20
	hashedKept = 1 << 20
)

// hashedIf returns hashed if a hash is wanted.
func hashedIf(wanted bool) int64 {
	if wanted {
		return hashed
	}
	return -1
}

func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
