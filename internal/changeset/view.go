package changeset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// view finds out what has become of the steps of a journal. It goes only by what is on the
// disk, so that a run that ends a dead run's change sees what that run would have seen.
type view struct {
	root  *root
	links bool // the disk has hard links
	// loose recognises files by size, hash and roughly by time instead of by inode: in a
	// folder that was copied, and where inodes are not real and times are rounded.
	loose bool
}

// newView returns the view of a journal. Links are followed once, so that all that is done for a step
// is done to one file.
func newView(r *root, j *journal) view {
	var real userdir.Real
	for _, s := range j.Steps {
		if s.real = r.at(s.Path); s.Do == Replace {
			s.real = real.Path(s.real)
		}
	}
	return view{r, j.Links, !j.Links}
}

// is reports whether the file at path is the one that id identifies; a nil id means that
// there is none.
func (v view) is(path string, id *safefile.Ident) bool {
	if id == nil {
		return absent(path)
	}
	now, err := safefile.IdentOf(path, hashedIf(v.loose && id.Hash != ""))
	return err == nil && sameIdent(now, *id, v.loose)
}

// isKept is like is, for a kept file, which may be a copy.
func (v view) isKept(path string, id *safefile.Ident) bool { return v.checkKept(path, id) == nil }

// checkKept is isKept with the reason: safefile.ErrChanged, or that the file cannot be
// read. A file's content is read only where nothing else decides.
func (v view) checkKept(path string, id *safefile.Ident) error {
	if !v.loose && v.is(path, id) {
		return nil
	}
	now, err := safefile.IdentOf(path, hashedIf(id.Hash != ""))
	if err == nil && !sameIdent(now, *id, true) {
		err = &fs.PathError{Op: "compare", Path: path, Err: safefile.ErrChanged}
	}
	return err
}

// made reports whether a step has been made.
func (v view) made(s *step) bool {
	path := s.real
	switch s.Do {
	case Create, Replace:
		return v.is(path, s.Now)
	case link:
		return v.is(v.to(s), s.Was)
	case unlink:
		return absent(path) && v.is(v.to(s), s.Was)
	case Move:
		if sameButCase(path, v.to(s)) || spelled(v.to(s)) && !spelled(path) {
			return spelled(v.to(s)) && v.is(v.to(s), s.Was)
		}
		return absent(path) && v.is(v.to(s), s.Was)
	default:
		return absent(path) && v.isKept(v.kept(s), s.Was)
	}
}

// canMake reports whether a step that has not been made can be: its file is as it was, its
// name is free and its draft is there.
func (v view) canMake(s *step) bool {
	path := s.real
	switch s.Do {
	case Create:
		return (absent(path) || v.placeholder(path)) && v.is(v.temp(s), s.Now)
	case Replace:
		return (v.is(path, s.Was) || v.gap(s)) && v.is(v.temp(s), s.Now)
	case link:
		return v.is(path, s.Was) && (absent(v.to(s)) || v.placeholder(v.to(s)))
	case Move:
		return v.is(path, s.Was) && (absent(v.to(s)) || sameButCase(path, v.to(s)) || v.placeholder(v.to(s)))
	default:
		return v.is(path, s.Was)
	}
}

// gap reports whether a step stopped between the two renames that replace a large file
// where there are no hard links: the old file has been renamed to keep it, the new one has
// no name yet.
func (v view) gap(s *step) bool {
	return s.Do == Replace && !v.links && absent(s.real) && v.isKept(v.kept(s), s.Was)
}

// placeholder reports whether path is an empty file that reserves a name, as is done where
// there is no other way to put a file in place.
func (v view) placeholder(path string) bool {
	info, err := os.Lstat(path)
	return !v.links && err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// touched reports, for a step that does not look made, whether it was made and its file
// was changed since; true if that cannot be known.
func (v view) touched(s *step) bool {
	path := s.real
	switch s.Do {
	case Create: // the draft is gone only if it got its name, or was taken back
		return !absent(path) && !v.is(v.temp(s), s.Now)
	case Replace: // what was taken back on another disk is a copy
		return !v.isKept(path, s.Was) && !absent(v.kept(s)) && !v.is(v.temp(s), s.Now)
	case link, unlink: // what was saved in place has both names: either can go
		return !v.is(path, s.Was) && !absent(v.to(s)) && !sameFile(path, v.to(s))
	case Move: // without the new name nothing was done yet, or nothing is left to take back
		return !v.is(path, s.Was) && !absent(v.to(s))
	default: // a file that was only linked to keep it was not removed
		return !v.isKept(path, s.Was) && !absent(v.kept(s)) && !sameFile(path, v.kept(s))
	}
}

// linked reports whether the file of a move still has both names, whatever is in it.
func (v view) linked(s *step) bool { return s.Do == link && sameFile(s.real, v.to(s)) }

// stays reports whether a step cannot be taken back without touching what somebody has put in the
// place of its file since, or under the old name of one that moved; or since what was kept of it is
// gone.
func (v view) stays(s *step) bool {
	path := s.real
	if !v.made(s) {
		return v.touched(s)
	}
	return s.Do == link && !absent(path) && !v.is(path, s.Was) || s.Do == Replace && !v.isKept(v.kept(s), s.Was)
}

// goneOnWith reports whether a step was made, and somebody has saved its file since under its new
// name.
func (v view) goneOnWith(s *step) bool {
	path := s.real
	switch s.Do {
	case Create:
		return !v.made(s) && !absent(path) && (absent(v.temp(s)) || sameFile(path, v.temp(s)))
	case link, unlink, Move:
		return !v.made(s) && absent(path) && !absent(v.to(s))
	}
	return false
}

func sameIdent(a, b safefile.Ident, loose bool) bool {
	if loose {
		apart := time.Duration(a.Mtime - b.Mtime).Abs()
		return a.Size == b.Size && a.Hash == b.Hash && apart <= tick
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

// to returns the new path of a file that moves.
func (v view) to(s *step) string { return v.root.at(s.To) }

// kept returns the path under which the old file is kept.
func (v view) kept(s *step) string { return v.root.own(s.Kept) }

// temp returns the path of the draft, or of the kept file that comes back.
func (v view) temp(s *step) string {
	if isKept(s.Temp) {
		return v.root.own(s.Temp)
	}
	return filepath.Join(filepath.Dir(s.real), s.Temp)
}
