package safefile

import (
	"errors"
	"io/fs"
	"os"
)

// Disk holds the operations that put files in place, as functions, so that a test can make
// any of them fail, or end a run before it.
type Disk struct {
	Write     func(f *os.File, p []byte) (int, error) // all of p, or an error
	Reserve   func(f *os.File, from, n int64)         // reserves room without making f longer; only a hint
	WriteBack func(f *os.File, from, n int64)         // starts writing this range to disk; only a hint
	Sync      func(f *os.File) error                  // forces content to disk
	CloseFile func(f *os.File) error
	Link      func(old, new string) error            // a second name, fs.ErrExist if taken
	Claim     func(old, new string) error            // Link, where that is how a file gets its name
	RenameNew func(old, new string, sync bool) error // rename, fs.ErrExist if new is taken
	Rename    func(old, new string, sync bool) error // rename that replaces
	SyncDir   func(dir string) error                 // forces a folder's names to disk
	Remove    func(path string) error
}

// System returns the operations of the operating system.
func System() Disk {
	return Disk{
		Write:     (*os.File).Write,
		Reserve:   reserve,
		WriteBack: startWriteBack,
		Sync:      syncFile,
		CloseFile: (*os.File).Close,
		Link:      os.Link,
		Claim:     linkFile,
		RenameNew: renameNew,
		Rename:    renameOver,
		SyncDir:   syncDir,
		Remove:    removeFile,
	}
}

// syncFile forces a file to disk, where the file system supports that.
func syncFile(f *os.File) error {
	if err := f.Sync(); err != nil && !cannotSync(err) {
		return err
	}
	return nil
}

// Publish moves the file at old to a name that is free, in the first way that the file
// system supports. The error wraps fs.ErrExist if the name is taken.
func (d *Disk) Publish(old, name string, sync bool) error {
	mine, err := os.Lstat(old)
	if err != nil {
		return err
	}
	os.SameFile(mine, mine) // as in stampOfInfo
	err = d.Claim(old, name)
	if errors.Is(err, fs.ErrExist) && isSame(mine, name) {
		err = nil // NFS: the reply to a first, successful try was lost
	}
	if err == nil {
		// If this fails, the target is complete all the same, and RemoveStale recognises the
		// name left over.
		_ = d.Remove(old)
		return nil
	}
	// Where links are unsupported the error may be nearly any (EPERM on exFAT, EACCES on
	// Android, EMLINK, ENOTSUP, EXDEV). The next way is as safe, so the reason does not
	// matter.
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err = d.RenameNew(old, name, sync); err == nil || !noRenameNew(err) {
		return err
	}
	return d.publishByPlaceholder(old, name, sync)
}

// publishByPlaceholder reserves the name with an empty file and renames over it.
func (d *Disk) publishByPlaceholder(old, name string, sync bool) error {
	f, err := CreateNew(name, 0o666)
	if err != nil {
		return err
	}
	held, err := StampOf(f)
	if err = errors.Join(err, d.CloseFile(f)); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	// Somebody may have written into it, or put another file there.
	untouched := func() bool {
		info, err := os.Lstat(name)
		return err == nil && os.SameFile(info, held.info) && info.Size() == 0
	}
	if !untouched() {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	if err := d.Rename(old, name, sync); err != nil {
		if untouched() {
			err = errors.Join(err, d.Remove(name))
		}
		return err
	}
	return nil
}

// isSame reports whether the file at path is the one that was seen, unchanged.
func isSame(seen fs.FileInfo, path string) bool {
	info, err := os.Lstat(path)
	return err == nil && os.SameFile(info, seen) &&
		info.Size() == seen.Size() && info.ModTime().Equal(seen.ModTime())
}
