package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// writeBackStep is how many bytes are written before the disk is told to begin.
const writeBackStep = 8 << 20

// Temp is a temporary file beside its target, to be filled and then published once, by
// Create or by Replace. It is for one goroutine at a time. Every Temp must be discarded:
// put `defer t.Discard()` right after New, which does nothing to a file that was
// published.
type Temp struct {
	target string      // as given
	real   string      // the target, or the file behind it when that is a symlink
	path   string      // the temporary file, in real's folder
	seen   fs.FileInfo // the existing target, nil when there is none
	like   fs.FileInfo // the file whose mode and owner it gets, or nil
	opt    Options
	disk   *Disk

	f       *os.File
	pages   pages
	offset  int64       // bytes taken by Write
	started int64       // how many of them the disk was told to write
	final   fs.FileInfo // the temporary file as Prepare left it
	err     error       // the first failed write, truncation or preparation
	state   state
}

type state uint8

const (
	writing   state = iota // f is open
	prepared               // f is closed, path is complete
	published              // path is gone, its file has the target's name
	discarded              // path is gone
)

// Path returns the temporary file's own path.
func (t *Temp) Path() string { return t.path }

// Offset returns how many bytes were written.
func (t *Temp) Offset() int64 { return t.offset }

// Write appends p. Callers write big blocks; less than a page of one may be kept until
// the next. After an error the file can no longer be published.
func (t *Temp) Write(p []byte) (int, error) {
	if err := t.writable(); err != nil {
		return 0, err
	}
	n, err := t.pages.write(t.f, t.disk, p)
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

// Truncate cuts the file back to its first size bytes; writing continues there. A size
// beyond what was written is an error.
func (t *Temp) Truncate(size int64) error {
	if err := t.writable(); err != nil {
		return err
	}
	if size < 0 || size > t.offset {
		return t.fail("truncate", fmt.Errorf("to %d bytes of %d", size, t.offset))
	}
	if err := t.pages.flush(t.f, t.disk); err != nil {
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

// fail returns err under the target's name, and keeps the first one.
func (t *Temp) fail(op string, err error) error {
	err = &fs.PathError{Op: op, Path: t.target, Err: cause(err)}
	if t.err == nil {
		t.err = err
	}
	return err
}

// Prepare completes the file so that only its publication is left: it sets mode and owner
// of the file that it may replace, syncs (unless NoSync) and closes. Create and Replace
// call it if that was not done; a caller with several files prepares all of them before
// it publishes the first. On an error the temporary file is removed.
func (t *Temp) Prepare() (err error) {
	switch t.state {
	case prepared:
		return nil
	case published, discarded:
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
	if err := t.pages.flush(t.f, t.disk); err != nil {
		return t.fail("write", err)
	}
	if err := t.settle(); err != nil {
		return t.fail("write", err)
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
	// Not earlier: Windows may set the time of the last write on closing.
	final, err := os.Lstat(t.path)
	if err != nil {
		return t.fail("write", err)
	}
	os.SameFile(final, final) // as in stampOfInfo
	t.final = final
	t.state = prepared
	return nil
}

// Create publishes the file under its target's name, which must not exist: the error is
// an [*ExistsError] if it does, or if it did when New looked. On any error the temporary
// file is removed, and so is the published one, unless somebody has changed it.
func (t *Temp) Create() error {
	if err := t.Prepare(); err != nil {
		return err
	}
	defer t.Discard() // unless it is published
	if t.seen != nil {
		return &ExistsError{Path: t.target}
	}
	if err := t.disk.Publish(t.path, t.target, !t.opt.NoSync); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return &ExistsError{Path: t.target}
		}
		return t.fail("create", err)
	}

	t.state = published
	if err := t.syncFolder(); err != nil {
		err = t.fail("sync the folder of", err)
		if !isSame(t.final, t.target) { // somebody else's by now
			return errors.Join(err, fmt.Errorf("%s: not removed: %w", t.target, ErrChanged))
		}
		return errors.Join(err, t.disk.Remove(t.target))
	}
	return nil
}

// Replace puts the file in the place of its target, or of the file behind it when the
// target is a symlink. The target must still have the stamp was (or the error is
// [ErrChanged]), be a regular file ([ErrNotRegular]) and be writable ([ErrReadOnly]). On
// an error the target is as it was, except for [*UnsyncedError]: then it was replaced.
func (t *Temp) Replace(was Stamp) error {
	if err := t.Prepare(); err != nil {
		return err
	}
	defer t.Discard() // unless it is published
	info, err := os.Lstat(t.real)
	if err := mayReplace(t.target, t.real, info, err); err != nil {
		return err
	}
	if t.seen == nil || t.seen.Mode() != info.Mode() || !sameOwner(t.seen, info) {
		if err := adopt(t.path, info, info.Mode()); err != nil {
			return t.fail("replace", err)
		}
	}

	defer lock(t.real)()
	// As late as possible, and through a symlink, which may lead elsewhere by now.
	now, err := StampPath(t.target)
	if err != nil {
		return err
	}
	if !now.Same(was) || !os.SameFile(now.info, info) {
		return fmt.Errorf("%s: %w", t.target, ErrChanged)
	}
	// A reply may be lost as in Publish: what counts is which file is there.
	if err := t.disk.Rename(t.path, t.real, !t.opt.NoSync); err != nil && !isSame(t.final, t.real) {
		return t.fail("replace", err)
	}
	t.state = published
	if err := t.syncFolder(); err != nil {
		return &UnsyncedError{Path: t.target, Err: cause(err)}
	}
	return nil
}

func (t *Temp) syncFolder() error {
	if t.opt.NoSync {
		return nil
	}
	return t.disk.SyncDir(filepath.Dir(t.real))
}

// Discard removes the temporary file unless it was published. It may be called at any
// time, more than once, and on nil.
func (t *Temp) Discard() {
	if t == nil || t.state != writing && t.state != prepared {
		return
	}
	if t.state == writing {
		_ = t.f.Close() // nothing in it is wanted
	}
	t.state = discarded
	_ = t.disk.Remove(t.path)
}

// Spool copies r, which can be read only once, to a private file (mode 0600) in dir, or
// in the system's folder for temporary files if dir is empty. It returns the file, open
// for reading from its first byte. cleanup closes and removes it, and may be called
// more than once. Except on Windows the file loses its name at once, so that nobody
// else can open it and a crash leaves nothing; there RemoveStale recognises the name.
func Spool(r io.Reader, dir string) (f *os.File, cleanup func(), err error) {
	return SpoolFrom(func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}, dir)
}

// SpoolFrom is [Spool] for what write writes.
func SpoolFrom(write func(io.Writer) error, dir string) (f *os.File, cleanup func(), err error) {
	f, cleanup, err = Scratch(dir)
	if err != nil {
		return nil, nil, err
	}
	// not by the file's own ReadFrom, whose errors do not tell reading from writing
	err = write(struct{ io.Writer }{f})
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		cleanup()
		return nil, nil, err
	}
	return f, cleanup, nil
}

// Scratch creates an empty file for writing and reading, as private and as nameless as
// that of [Spool].
func Scratch(dir string) (f *os.File, cleanup func(), err error) {
	if dir == "" {
		dir = os.TempDir()
	}
	tag, _ := hostTag()
	for range 100 {
		f, err = CreateNew(filepath.Join(dir, tempName(tag)), 0o600)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, nil, &fs.PathError{Op: "create a file in", Path: dir, Err: cause(err)}
	}
	named := true
	if runtime.GOOS != "windows" {
		named = os.Remove(f.Name()) != nil
	}
	cleanup = func() {
		_ = f.Close()
		if named {
			_ = removeFile(f.Name())
			named = false
		}
	}
	return f, cleanup, nil
}
