package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Create publishes the file under its target's name, which must not exist; a name
// that is taken, also one that was when New looked, is an *ExistsError. On any error
// nothing of it is left.
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
	t.state = created
	if err := t.syncFolder(); err != nil {
		return errors.Join(t.fail("sync the folder of", err), t.Undo())
	}
	return nil
}

// Undo removes the file that Create published, when a later step of the same work
// failed. A file that has been changed or replaced since is somebody else's and stays:
// that is ErrChanged. It does nothing where Create did not succeed, also after Replace.
func (t *Temp) Undo() error {
	if t.state != created {
		return nil
	}
	if !isSame(t.final, t.target) {
		return fmt.Errorf("%s: not removed: %w", t.target, ErrChanged)
	}
	if err := t.disk.Remove(t.target); err != nil {
		return err
	}
	t.state = discarded
	return nil
}

// Replace puts the file in the place of its target, or of the file behind it when the
// target is a symlink. The target must still be as was says (ErrChanged), be a regular
// file (ErrNotRegular) and be writable (ErrReadOnly). On an error the target is as
// it was, but for *UnsyncedError, which says that it was replaced.
func (t *Temp) Replace(was Stamp) error {
	if err := t.Prepare(); err != nil {
		return err
	}
	defer t.Discard() // unless it is published
	info, err := replaceable(t.target, t.real)
	if err != nil {
		return err
	}
	if t.seen == nil || t.seen.Mode() != info.Mode() || !sameOwner(t.seen, info) {
		if err := adopt(t.path, info, info.Mode()); err != nil {
			return t.fail("replace", err)
		}
	}
	defer lock(t.real)()
	// As late as possible. Through the symlink, should there be one: it may lead
	// elsewhere by now.
	now, err := StampPath(t.target)
	if err != nil {
		return err
	}
	if !now.Same(was) || !os.SameFile(now.info, info) {
		return fmt.Errorf("%s: %w", t.target, ErrChanged)
	}
	// An answer may be lost as in claim: what counts is which file is there.
	if err := t.disk.Rename(t.path, t.real, !t.opt.NoSync); err != nil && !isSame(t.final, t.real) {
		return t.fail("replace", err)
	}
	t.state = replaced
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

// CanReplace reports whether Replace would take target as far as can be told beforehand:
// the error is the one that Replace would give. It writes nothing.
func CanReplace(target string) error {
	_, err := replaceable(target, behind(target))
	return err
}

// replaceable looks at the file itself, real; errors name the target.
func replaceable(target, real string) (fs.FileInfo, error) {
	info, err := os.Lstat(real)
	switch {
	case err != nil:
		return nil, &fs.PathError{Op: "replace", Path: target, Err: cause(err)}
	case info.Mode().Type() == fs.ModeSymlink:
		// Every link that leads somewhere was resolved before: this one is new.
		if _, err := os.Stat(real); err != nil {
			return nil, &fs.PathError{Op: "replace", Path: target, Err: cause(err)}
		}
		return nil, fmt.Errorf("%s: %w: it is a symlink now", target, ErrChanged)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w", target, ErrNotRegular)
	case info.Mode().Perm()&0o222 == 0:
		return nil, fmt.Errorf("%s: %w", target, ErrReadOnly)
	}
	if err := mayWrite(real); err != nil {
		return nil, fmt.Errorf("%s: %w", target, err)
	}
	return info, nil
}
