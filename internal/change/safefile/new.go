package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Options control how a file is written. The zero value is the safe one.
type Options struct {
	// NoSync leaves it to the system when the data reaches the disk: faster, and after
	// a power loss the file may be empty, old or cut short.
	NoSync bool
	// Like is the file that a new one is made from, or nil. The new file allows nobody to
	// read or write it who may not do so with Like, and gets its owner as far as the user
	// may set it. It is ignored when a file is replaced, which keeps its own.
	Like fs.FileInfo
	// Home is the user's folder in which the file is made, "" for none. What root makes there gets
	// the owner of the folder that it lies in, unless Like is a file of the user's.
	Home string
	// Disk puts the file in place; nil means the system's.
	Disk *Disk
	// Self is this process; nil means that [ThisProcess] is called.
	Self *Self
}

// New creates an empty temporary file beside target. Whether target may exist is for Create
// or Replace to judge. If target is a symlink, the file lies beside the one that it leads
// to. It is an error if that folder does not exist or may not be written to.
func New(target string, opt Options) (*Temp, error) {
	t := &Temp{target: target, opt: opt, disk: opt.Disk}
	if t.disk == nil {
		d := System()
		t.disk = &d
	}
	real, info, err := resolve(target)
	t.real = real
	if err != nil {
		t.like = opt.Like
	} else {
		t.seen = info
		if info.Mode().IsRegular() {
			t.like = info
		}
	}

	perm := fs.FileMode(0o666)
	if t.like != nil {
		perm &= t.like.Mode().Perm() | 0o600 // a private file stays private while it is written
	}
	self := opt.Self
	if self == nil {
		self = ThisProcess()
	}
	dir := filepath.Dir(t.real)
	for range 100 {
		t.path = filepath.Join(dir, tempName(self.tag))
		// 0666 and not 0600: the kernel subtracts the umask, which cannot be read
		// without setting it for the whole process.
		f, err := CreateNew(t.path, perm)
		if err == nil {
			t.f = f
			return t, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, cannotCreate(target, cause(err))
		}
	}
	return nil, &fs.PathError{Op: "create a file in", Path: dir, Err: errors.New("no free temporary name")}
}

// behind returns the file that a symlink leads to, and any other path as it is. A dangling
// link is returned as it is, too: Create reports that it exists, Replace that its file does
// not.
func behind(target string) string {
	real, _, _ := resolve(target)
	return real
}

// resolve is behind with what [os.Lstat] reports of the file.
func resolve(target string) (real string, info fs.FileInfo, err error) {
	info, err = os.Lstat(target)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		if real, err := filepath.EvalSymlinks(target); err == nil {
			info, err = os.Lstat(real)
			return real, info, err
		}
	}
	return target, info, err
}

// cause strips from an error the path of a temporary file, which means nothing to people.
func cause(err error) error {
	switch e := err.(type) { //nolint:errorlint // only the outermost: below it the path may matter
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

// CanReplace returns the error that Replace would return for target, as far as that can
// be known beforehand. It writes nothing.
func CanReplace(target string) error {
	real, info, err := resolve(target)
	return mayReplace(target, real, info, err)
}

// mayReplace checks the file itself, real, of which os.Lstat returned info and err; errors name the
// target.
func mayReplace(target, real string, info fs.FileInfo, err error) error {
	switch {
	case err != nil:
		return &fs.PathError{Op: "replace", Path: target, Err: cause(err)}
	case info.Mode().Type() == fs.ModeSymlink:
		// Every link that leads somewhere was resolved before: this one is new.
		if _, err := os.Stat(real); err != nil {
			return &fs.PathError{Op: "replace", Path: target, Err: cause(err)}
		}
		return fmt.Errorf("%s: %w: it is a symlink now", target, ErrChanged)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w", target, ErrNotRegular)
	case info.Mode().Perm()&0o222 == 0:
		return fmt.Errorf("%s: %w", target, ErrReadOnly)
	}
	if err := mayWrite(real); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	return nil
}

// adopt gives the file at path a mode and, as far as permitted, the owner of like.
func adopt(path string, like fs.FileInfo, mode fs.FileMode) error {
	had, err := os.Lstat(path)
	if err != nil {
		return err
	}
	keepsGroup, changed := adoptOwner(path, had, like)
	mode &= allModes
	if !keepsGroup {
		mode = forOtherGroup(mode)
	}

	if !changed && had.Mode() == mode {
		return nil
	}
	return os.Chmod(path, mode)
}

// allModes are the bits that can be set of a file's mode.
const allModes = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// CanCreate returns an error if no file can be created beside target, as far as
// that can be known beforehand. It writes nothing.
func CanCreate(target string) error {
	dir := filepath.Dir(behind(target))
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		err = cause(err)
	case !info.IsDir():
		err = fs.ErrNotExist
	default:
		if err = mayWrite(dir); err != nil {
			err = fs.ErrPermission
		}
	}
	if err != nil {
		return cannotCreate(target, err)
	}
	return nil
}

// cannotCreate returns the error that a file cannot be created; its folder is named, unless that is
// not there.
func cannotCreate(target string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "create", Path: target, Err: err}
	}
	return &fs.PathError{Op: "create a file in", Path: filepath.Dir(behind(target)), Err: err}
}
