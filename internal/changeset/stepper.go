package changeset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"stchat/internal/safefile"
)

// copied is the largest file, in bytes, that is copied to keep or move it where it cannot be
// linked; a larger one is renamed.
const copied = 64 << 20

// stepper makes single steps, and takes them back.
type stepper struct {
	view view
	disk *safefile.Disk
	sync bool
	dirs map[string]bool // folders whose names changed
	// linked are those in which moved files got the names that they keep. They are synced before
	// the files' other names go, or a power loss could leave them without any.
	linked map[string]bool
}

// make makes a step unless it has been made.
func (d *stepper) make(s *step) error {
	path := d.view.path(s)
	if d.view.made(s) {
		if s.Do == link {
			d.linked[filepath.Dir(d.view.to(s))] = true
		}
		if s.Do == Create && d.view.is(d.view.temp(s), s.Now) {
			return d.disk.Remove(d.view.temp(s))
		}
		return nil
	}
	if !d.view.canMake(s) {
		return fmt.Errorf("%s: %w", d.view.root.at(s.Path), safefile.ErrChanged)
	}
	d.dirs[filepath.Dir(path)] = true
	switch s.Do {
	case Create:
		if d.view.placeholder(path) {
			return d.disk.Rename(d.view.temp(s), path, d.sync)
		}
		return d.disk.Publish(d.view.temp(s), path, d.sync)
	case Replace:
		if err := d.keep(s, path); err != nil {
			return err
		}
		return d.disk.Rename(d.view.temp(s), path, d.sync)
	case link:
		d.dirs[filepath.Dir(d.view.to(s))] = true
		d.linked[filepath.Dir(d.view.to(s))] = true
		return d.double(path, d.view.to(s))
	case Move:
		d.dirs[filepath.Dir(d.view.to(s))] = true
		return d.rename(path, d.view.to(s))
	case unlink:
		if err := d.syncLinked(); err != nil {
			return err
		}
		return d.disk.Remove(path)
	default:
		if err := d.keep(s, path); err != nil || absent(path) {
			return err
		}
		return d.disk.Remove(path)
	}
}

// double gives a file a second name, or where there are no hard links copies it.
func (d *stepper) double(from, to string) error {
	if d.view.links {
		return d.disk.Link(from, to)
	}
	temp := filepath.Join(filepath.Dir(to), safefile.TempName())
	if err := copyFile(d.disk, d.sync, from, temp); err != nil {
		return err
	}
	if err := d.rename(temp, to); err != nil {
		return errors.Join(err, d.disk.Remove(temp))
	}
	return nil
}

// rename gives a file another name that is free or reserved, or its own in another letter case.
func (d *stepper) rename(from, to string) error {
	if sameButCase(from, to) || d.view.placeholder(to) {
		return d.disk.Rename(from, to, d.sync)
	}
	return d.disk.Publish(from, to, d.sync)
}

// keep puts the old file where undo finds it, and makes sure that it is the one that was
// judged. It makes a link, which costs nothing, or without links a copy or a rename.
func (d *stepper) keep(s *step, path string) error {
	kept := d.view.kept(s)
	if absent(path) {
		return nil // the gap of a rename, see view.gap
	}
	if !absent(kept) {
		return at(path, d.view.checkKept(kept, s.Was)) // may have changed since it was linked
	}
	err := fs.ErrInvalid
	if d.view.links {
		err = d.disk.Link(path, kept)
	}
	if err != nil {
		err = d.keepOtherwise(s, path, kept)
	}
	if err != nil {
		return err
	}
	if err := at(path, d.view.checkKept(kept, s.Was)); err != nil {
		if absent(path) { // it was renamed, and somebody's save with it
			return errors.Join(err, d.disk.Publish(kept, path, d.sync))
		}
		return errors.Join(err, d.disk.Remove(kept))
	}
	return nil
}

func (d *stepper) keepOtherwise(s *step, path, kept string) error {
	if s.Was.Size > copied {
		if err := d.disk.RenameNew(path, kept, d.sync); err == nil {
			return nil
		}
		if absent(kept) && d.disk.Rename(path, kept, d.sync) == nil {
			return nil
		}
	}
	return copyFile(d.disk, d.sync, path, kept)
}

// syncDirs forces to disk the folders whose names changed.
func (d *stepper) syncDirs() error { return d.syncAll(d.dirs) }

// syncLinked forces to disk the names that moved files keep.
func (d *stepper) syncLinked() error {
	err := d.syncAll(d.linked)
	clear(d.linked)
	return err
}

func (d *stepper) syncAll(dirs map[string]bool) error {
	if !d.sync {
		return nil
	}
	for dir := range dirs {
		if err := d.disk.SyncDir(dir); err != nil {
			return at(dir, err)
		}
	}
	return nil
}

func (d *stepper) revert(s *step) error {
	path := d.view.path(s)
	d.dirs[filepath.Dir(path)] = true
	if d.view.made(s) || d.view.gap(s) || d.view.linked(s) {
		if err := d.unmake(s, path); err != nil {
			return err
		}
	}
	// While the draft exists, the file was not replaced, so nothing is kept for undo. The draft
	// goes last: without it a kept file could be of a replacement.
	drafted := s.Temp != "" && d.view.is(d.view.temp(s), s.Now)
	var errs []error
	if s.Kept != "" && !absent(d.view.kept(s)) && (drafted || d.view.is(path, s.Was) || sameFile(path, d.view.kept(s))) {
		errs = append(errs, d.disk.Remove(d.view.kept(s)))
	}
	if drafted && !isKept(s.Temp) {
		errs = append(errs, d.disk.Remove(d.view.temp(s)))
	}
	return errors.Join(errs...)
}

// unmake takes back a step that was made.
func (d *stepper) unmake(s *step, path string) error {
	switch s.Do {
	case Create:
		if isKept(s.Temp) { // the kept file was the draft: undo of a removal, without links
			return d.disk.Publish(path, d.view.temp(s), d.sync)
		}
		return d.disk.Remove(path)
	case Replace:
		if !d.view.isKept(d.view.kept(s), s.Was) {
			return &LostError{path, d.view.kept(s)}
		}
		if isKept(s.Temp) && !absent(path) {
			if err := d.disk.Publish(path, d.view.temp(s), d.sync); err != nil {
				return err
			}
		}
		return d.bring(d.view.kept(s), path, d.disk.Rename)
	case link:
		if !d.view.is(path, s.Was) && !d.view.linked(s) {
			return fmt.Errorf("%s: %w", path, safefile.ErrChanged)
		}
		if err := d.syncLinked(); err != nil {
			return err
		}
		return d.disk.Remove(d.view.to(s))
	case unlink:
		d.linked[filepath.Dir(path)] = true
		return d.double(d.view.to(s), path)
	case Move:
		return d.rename(d.view.to(s), path)
	default:
		if d.view.links && d.disk.Link(d.view.kept(s), path) == nil {
			return nil // revert removes the name that was kept
		}
		return d.bring(d.view.kept(s), path, d.disk.Publish)
	}
}

// bring gives a kept file its name back; on another disk that takes a copy.
func (d *stepper) bring(kept, path string, put func(from, to string, sync bool) error) error {
	err := put(kept, path, d.sync)
	if err == nil || sameDisk(kept, path) {
		return err
	}
	temp := filepath.Join(filepath.Dir(path), safefile.TempName())
	if err := copyFile(d.disk, d.sync, kept, temp); err != nil {
		return err
	}
	if err := put(temp, path, d.sync); err != nil {
		return errors.Join(err, d.disk.Remove(temp))
	}
	return d.disk.Remove(kept)
}

// copyFile copies a file with its mode and time, so that the copy is recognised as the
// file.
func copyFile(disk *safefile.Disk, sync bool, from, to string) (err error) {
	in, err := safefile.OpenPlain(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(to), safefile.TempName())
	out, err := safefile.CreateNew(temp, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil && sync {
		err = disk.Sync(out)
	}
	if err = errors.Join(err, disk.CloseFile(out)); err == nil {
		err = errors.Join(os.Chmod(temp, info.Mode().Perm()), os.Chtimes(temp, info.ModTime(), info.ModTime())) // exFAT in user space ignores one time alone
	}
	if err == nil {
		err = disk.Rename(temp, to, sync)
	}
	if err != nil {
		_ = disk.Remove(temp)
	}
	return err
}

// sameDisk reports whether two files lie on one disk, judging by their folders.
func sameDisk(a, b string) bool {
	x, _, err := safefile.FileID(filepath.Dir(a))
	y, _, err2 := safefile.FileID(filepath.Dir(b))
	return err != nil || err2 != nil || x == y
}
