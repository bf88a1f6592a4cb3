package changeset

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

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
	path := s.real
	if d.view.made(s) {
		if s.Do == link {
			d.linked[filepath.Dir(d.view.to(s))] = true
		}
		if s.Do == Create && d.view.is(d.view.temp(s), s.Now) {
			return d.disk.Remove(d.view.temp(s))
		}
		return nil
	}
	if s.Do == unlink { // before the last look at the file: it may take long
		if err := d.syncLinked(); err != nil {
			return err
		}
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
	return d.bring(from, to, d.rename)
}

// bring gives the file a second name as put does. It is a link; where there can be none, a copy.
func (d *stepper) bring(from, to string, put func(from, to string) error) error {
	temp := filepath.Join(filepath.Dir(to), safefile.TempName())
	err := second(d.disk, d.sync, from, temp)
	if err == nil {
		if err = put(temp, to); err != nil {
			err = errors.Join(err, d.disk.Remove(temp))
		}
	}
	return err
}

// rename gives a file another name that is free or reserved, or its own in another letter case.
func (d *stepper) rename(from, to string) error {
	if sameButCase(from, to) || d.view.placeholder(to) {
		return d.disk.Rename(from, to, d.sync)
	}
	return d.disk.Publish(from, to, d.sync)
}

// keep makes sure that the old file is where undo finds it, and is the one that was judged. What
// [player.keepAll] could not link or copy before the decision is renamed if it is large.
func (d *stepper) keep(s *step, path string) error {
	kept := d.view.kept(s)
	if absent(path) {
		return nil // the gap of a rename, see view.gap
	}
	if !absent(kept) {
		return at(path, d.view.checkKept(kept, s.Was)) // may have changed since it was kept
	}
	renamed := !d.view.links && s.Was.Size > copied &&
		(d.disk.RenameNew(path, kept, d.sync) == nil || absent(kept) && d.disk.Rename(path, kept, d.sync) == nil)
	if !renamed {
		if err := second(d.disk, d.sync, path, kept); err != nil {
			return err
		}
		if d.sync { // or a power loss could leave neither
			if err := d.disk.SyncDir(d.view.root.own("")); err != nil {
				return err
			}
		}
	}
	if err := at(path, d.view.checkKept(kept, s.Was)); err != nil {
		if absent(path) { // it was renamed, and somebody's save with it
			return errors.Join(err, d.disk.Publish(kept, path, d.sync))
		}
		return errors.Join(err, d.disk.Remove(kept))
	}
	return nil
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

// revert takes back the steps that were made, the last first, and then removes what they leave:
// the other names of a file must be on the disk by then, or a power loss could leave it without any.
func (d *stepper) revert(steps []*step) error {
	for _, s := range slices.Backward(steps) {
		path := s.real
		d.dirs[filepath.Dir(path)] = true
		if s.To != "" {
			d.dirs[filepath.Dir(d.view.to(s))] = true
		}
		if d.view.made(s) || d.view.gap(s) || d.view.linked(s) {
			if err := d.unmake(s, path); err != nil {
				return at(d.view.root.show(s.Path), err)
			}
		}
	}
	if err := d.syncDirs(); err != nil {
		return err
	}
	for _, s := range slices.Backward(steps) {
		if err := d.clean(s); err != nil {
			return at(d.view.root.show(s.Path), err)
		}
	}
	return nil
}

// clean removes the draft of a step that was taken back, and what was kept.
func (d *stepper) clean(s *step) error {
	path := s.real
	// While the draft exists, the file was not replaced, so nothing is kept for undo. The draft
	// goes last: without it a kept file could be of a replacement.
	drafted := s.Temp != "" && d.view.is(d.view.temp(s), s.Now)
	var errs []error
	if s.Kept != "" && !absent(d.view.kept(s)) && (drafted || d.view.isKept(path, s.Was) || sameFile(path, d.view.kept(s))) {
		errs = append(errs, d.disk.Remove(d.view.kept(s)))
		d.dirs[d.view.root.own("")] = true // before the journal goes, or it would stay for good
	}
	if drafted && !isKept(s.Temp) {
		errs = append(errs, d.disk.Remove(d.view.temp(s)))
	}
	return errors.Join(errs...)
}

// unmake takes back a step that was made.
func (d *stepper) unmake(s *step, path string) error {
	replace := func(from, to string) error { return d.disk.Rename(from, to, d.sync) }
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
		return d.unkeep(s, path, replace)
	case link:
		if err := d.syncLinked(); err != nil {
			return err
		}
		if !d.view.is(path, s.Was) && !d.view.linked(s) {
			return fmt.Errorf("%s: %w", path, safefile.ErrChanged)
		}
		return d.disk.Remove(d.view.to(s))
	case unlink:
		d.linked[filepath.Dir(path)] = true
		return d.double(d.view.to(s), path)
	case Move:
		return d.rename(d.view.to(s), path)
	default:
		return d.unkeep(s, path, d.rename)
	}
}

// unkeep gives a kept file its name back. A large one that was renamed is renamed again.
func (d *stepper) unkeep(s *step, path string, put func(from, to string) error) error {
	if !d.view.links && s.Was.Size > copied && put(d.view.kept(s), path) == nil {
		return nil
	}
	return d.bring(d.view.kept(s), path, put)
}

// second gives a file a second name that is free, and is this program's: a link, otherwise a copy.
func second(disk *safefile.Disk, sync bool, from, to string) error {
	if disk.Link(from, to) == nil {
		return nil
	}
	return copyFile(disk, sync, from, to)
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
	stamp := func() error { // exFAT in user space ignores one time alone
		return errors.Join(os.Chmod(temp, info.Mode().Perm()), os.Chtimes(temp, info.ModTime(), info.ModTime()))
	}
	if _, err = io.Copy(out, in); err == nil {
		err = stamp() // what is synced includes it
	}
	if err == nil && sync {
		err = disk.Sync(out)
	}
	err = errors.Join(err, disk.CloseFile(out))
	if err == nil && runtime.GOOS == "windows" { // which may set the time on closing
		err = stamp()
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
