package changeset

import (
	"errors"
	"io/fs"
	"os"

	"stchat/internal/safefile"
)

// view tells what has become of the steps of a journal. It goes by what is on the disk
// alone, so that whoever ends a dead run's change sees what that run would have seen.
type view struct {
	places
	links bool // hard links are to be had
	// loose tells files by size, time and hash instead of by inode: in a folder that was
	// copied, and where inodes are not real.
	loose bool
}

func newView(r *root, j *journal) view {
	return view{places: places{r}, links: j.Links, loose: !j.Links}
}

// is reports whether the file at path is the one that is known; nil is that of no file.
func (v view) is(path string, id *safefile.Ident) bool {
	if id == nil {
		return absent(path)
	}
	now, err := safefile.IdentOf(path, v.loose && id.Hash != "")
	return err == nil && sameIdent(now, *id, v.loose)
}

// isKept says so of what was kept, which may be a copy.
func (v view) isKept(path string, id *safefile.Ident) bool { return v.checkKept(path, id) == nil }

// checkKept is isKept with the reason: safefile.ErrChanged, or that the file cannot be
// read. A file's content is read only where nothing else tells.
func (v view) checkKept(path string, id *safefile.Ident) error {
	if !v.loose && v.is(path, id) {
		return nil
	}
	now, err := safefile.IdentOf(path, id.Hash != "")
	if err == nil && !sameIdent(now, *id, true) {
		err = &fs.PathError{Op: "compare", Path: path, Err: safefile.ErrChanged}
	}
	return err
}

// made reports whether a step has been made.
func (v view) made(s *step) bool {
	path := v.path(s)
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

// canMake reports whether a step that was not made can be: its file is as it was, its name
// free, its draft there.
func (v view) canMake(s *step) bool {
	path := v.path(s)
	switch s.Do {
	case Create:
		return (absent(path) || v.placeholder(path)) && v.is(v.temp(s), s.Now)
	case Replace:
		return (v.is(path, s.Was) || v.gap(s)) && v.is(v.temp(s), s.Now)
	case link:
		return v.is(path, s.Was) && absent(v.to(s))
	case Move:
		return v.is(path, s.Was) && (absent(v.to(s)) || sameButCase(path, v.to(s)))
	default:
		return v.is(path, s.Was)
	}
}

// gap is the moment between the two renames that replace a large file where there are no
// hard links: the old one has gone to be kept, the new one has no name yet.
func (v view) gap(s *step) bool {
	return s.Do == Replace && !v.links && absent(v.path(s)) && v.isKept(v.kept(s), s.Was)
}

// placeholder is an empty file that holds a name where a file can be put in place in no
// other way.
func (v view) placeholder(path string) bool {
	info, err := os.Lstat(path)
	return !v.links && err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// touched says of a step that does not look made whether it was, and its file changed
// since. Where that cannot be told, it is said to be.
func (v view) touched(s *step) bool {
	path := v.path(s)
	switch s.Do {
	case Create: // the draft is gone only when it got its name, or was taken back
		return !absent(path) && !v.is(v.temp(s), s.Now)
	case Replace:
		return !v.is(path, s.Was) && v.isKept(v.kept(s), s.Was) && !v.is(v.temp(s), s.Now)
	case link, unlink: // what was saved in place is under both names: either can go
		return !v.is(path, s.Was) && !absent(v.to(s)) && !sameFile(path, v.to(s))
	case Move: // where there is no new name, nothing was done yet, or nothing is left to take back
		return !v.is(path, s.Was) && !absent(v.to(s))
	default: // what was only linked to be kept was not removed
		return !v.is(path, s.Was) && !absent(v.kept(s)) && !sameFile(path, v.kept(s))
	}
}

// linked says of a move whether its file has both names still, whatever is in it.
func (v view) linked(s *step) bool { return s.Do == link && sameFile(v.path(s), v.to(s)) }

// taken says of a new name that was made whether the old one is somebody else's now: the
// file has no other place to go back to.
func (v view) taken(s *step) bool {
	path := v.path(s)
	return s.Do == link && !absent(path) && !v.is(path, s.Was)
}

func sameIdent(a, b safefile.Ident, loose bool) bool {
	if a.Size != b.Size || a.Mtime != b.Mtime {
		return false
	}
	if loose {
		return a.Hash == b.Hash
	}
	return a.Ino == b.Ino
}

func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
