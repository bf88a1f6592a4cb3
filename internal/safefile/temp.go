package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeBackStep is how many bytes are written before the disk is told to begin.
const writeBackStep = 8 << 20

// Options says how a file is written. The zero value is the safe one.
type Options struct {
	// NoSync leaves it to the system when the data reaches the disk: faster, and after
	// a power loss the file may be empty, old or cut short.
	NoSync bool
	// Like is the file that a new one is made from, nil where there is none: nobody
	// may read or write it who may not do so with that one, and it gets that one's owner
	// as far as the user may. A file that is replaced is always its own model.
	Like fs.FileInfo
	// Disk is what the file is put in place with; nil is the system's.
	Disk *Disk
}

// Temp is a temporary file beside its target, to be filled and then published once, by
// Create or by Replace. It is for one goroutine at a time. Every Temp is to be closed;
// `defer t.Discard()` right after New is the way, since that does nothing to a
// file that was published.
type Temp struct {
	target string      // as given
	real   string      // the target, or the file behind it when that is a symlink
	path   string      // the temporary file, in real's folder
	seen   fs.FileInfo // the existing target, nil when there is none
	like   fs.FileInfo // whose mode and owner it gets, nil: nobody's
	opt    Options
	disk   Disk

	f       *os.File
	pages   pages
	offset  int64       // bytes taken by Write
	started int64       // of them handed to the disk
	final   fs.FileInfo // the temporary file as Prepare left it
	err     error       // the first failed write, truncation or preparation
	state   state
}

type state uint8

const (
	writing   state = iota // f is open
	prepared               // f is closed, path is complete
	created                // path is gone, target is ours and was nobody's before
	replaced               // path is gone, real is ours
	discarded              // path is gone
)

// New makes an empty temporary file beside target, which may or may not exist: that is
// for Create or Replace to judge. When target is a symlink, the file lies beside what
// it leads to. It fails when that folder does not exist or may not be written.
func New(target string, opt Options) (*Temp, error) {
	t := &Temp{target: target, real: behind(target), opt: opt, disk: System()}
	if opt.Disk != nil {
		t.disk = *opt.Disk
	}
	if info, err := os.Lstat(t.real); err != nil {
		t.like = opt.Like
	} else if t.seen = info; info.Mode().IsRegular() {
		t.like = info
	}
	perm := fs.FileMode(0o666)
	if t.like != nil {
		perm &= t.like.Mode().Perm() | 0o600 // what is private stays so while it is written
	}
	tag, _ := hostTag()
	dir := filepath.Dir(t.real)
	for range 100 {
		t.path = filepath.Join(dir, tempName(tag))
		// 0666 and not 0600: the kernel subtracts the umask, which cannot be read
		// without setting it for the whole process.
		f, err := os.OpenFile(t.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			t.f = f
			return t, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, &fs.PathError{Op: "create a file in", Path: dir, Err: cause(err)}
		}
	}
	return nil, &fs.PathError{Op: "create a file in", Path: dir, Err: errors.New("no free temporary name")}
}

// behind returns the file that a symlink leads to, and any other path as it is. A link
// that leads nowhere stays, too: Create says that it exists, Replace that there is nothing.
func behind(target string) string {
	if info, err := os.Lstat(target); err == nil && info.Mode().Type() == fs.ModeSymlink {
		if real, err := filepath.EvalSymlinks(target); err == nil {
			return real
		}
	}
	return target
}

// cause takes the path of a temporary file, which tells nobody anything, off an error.
func cause(err error) error {
	switch e := err.(type) { //nolint:errorlint // only the outermost: below it the path may matter
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

// Path is the temporary file's own path.
func (t *Temp) Path() string { return t.path }

// Offset is how many bytes the file holds.
func (t *Temp) Offset() int64 { return t.offset }

// Write appends p: callers write big blocks, of which less than a page is kept until
// the next one. After an error the file cannot be published any more.
func (t *Temp) Write(p []byte) (int, error) {
	if err := t.writable(); err != nil {
		return 0, err
	}
	n, err := t.pages.write(t.f, &t.disk, p)
	t.offset += int64(max(n, 0))
	if err != nil {
		return n, t.fail("write", err)
	}
	if !t.opt.NoSync && t.offset-t.started >= writeBackStep {
		t.disk.WriteBack(t.f, t.started, t.offset-t.started)
		t.started = t.offset
	}
	return n, nil
}

// Truncate cuts the file back to its first size bytes, where writing then goes on.
// More than was written is an error.
func (t *Temp) Truncate(size int64) error {
	if err := t.writable(); err != nil {
		return err
	}
	if size < 0 || size > t.offset {
		return t.fail("truncate", fmt.Errorf("to %d bytes of %d", size, t.offset))
	}
	if err := t.pages.flush(t.f, &t.disk); err != nil {
		return t.fail("write", err)
	}
	if err := t.f.Truncate(size); err != nil {
		return t.fail("truncate", err)
	}
	t.pages.cut(size)
	if _, err := t.f.Seek(size, io.SeekStart); err != nil {
		return t.fail("truncate", err)
	}
	t.offset = size
	t.started = min(t.started, size)
	return nil
}

func (t *Temp) writable() error {
	if t.err != nil {
		return t.err
	}
	if t.state != writing {
		return &fs.PathError{Op: "write", Path: t.target, Err: fs.ErrClosed}
	}
	return nil
}

// fail keeps the first error, under the target's name.
func (t *Temp) fail(op string, err error) error {
	err = &fs.PathError{Op: op, Path: t.target, Err: cause(err)}
	if t.err == nil {
		t.err = err
	}
	return err
}

// Prepare completes the file so that only its publication is left: mode and owner of
// the file it may replace, sync (unless NoSync), close. Create and Replace do it when
// it was not done; a caller with several files does it for all of them before it
// publishes the first. On an error the temporary file is gone.
func (t *Temp) Prepare() (err error) {
	switch t.state {
	case prepared:
		return nil
	case created, replaced, discarded:
		return &fs.PathError{Op: "publish", Path: t.target, Err: fs.ErrClosed}
	}
	defer func() {
		if err != nil {
			t.Discard()
		}
	}()
	if t.err != nil {
		return t.err
	}
	if err := t.pages.flush(t.f, &t.disk); err != nil {
		return t.fail("write", err)
	}
	if t.like != nil {
		mode := t.like.Mode()
		if t.seen == nil { // it was made with no more than its model's, less the umask
			info, err := os.Lstat(t.path)
			if err != nil {
				return t.fail("write", err)
			}
			mode = info.Mode()
		}
		if err := adopt(t.path, t.like, mode); err != nil {
			return t.fail("write", err)
		}
	}
	if !t.opt.NoSync {
		if err := t.disk.Sync(t.f); err != nil {
			return t.fail("sync", err)
		}
	}
	// Network file systems report some failed writes only here.
	if err := t.disk.CloseFile(t.f); err != nil {
		return t.fail("write", err)
	}
	// Not sooner: Windows may set the time of the last write at the close.
	final, err := os.Lstat(t.path)
	if err != nil {
		return t.fail("write", err)
	}
	os.SameFile(final, final) // as in stampOfInfo
	t.final = final
	t.state = prepared
	return nil
}

// adopt gives the file at path a mode and, as far as permitted, the owner of like.
func adopt(path string, like fs.FileInfo, mode fs.FileMode) error {
	sameGroup, err := adoptOwner(path, like)
	if err != nil {
		return err
	}
	mode &= fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	if !sameGroup {
		// What one group was allowed, another is not: it gets what everybody has.
		mode = mode&^(0o070|fs.ModeSetgid) | mode&0o007<<3
	}
	return os.Chmod(path, mode)
}

// Discard removes the temporary file, unless it was published. It may be called at any
// time and any number of times, and on nil.
func (t *Temp) Discard() { _ = t.Close() }

// Close is Discard with the error of the removal, if it failed.
func (t *Temp) Close() error {
	if t == nil || t.state != writing && t.state != prepared {
		return nil
	}
	if t.state == writing {
		_ = t.f.Close() // nothing in it is wanted
	}
	t.state = discarded
	if err := t.disk.Remove(t.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
