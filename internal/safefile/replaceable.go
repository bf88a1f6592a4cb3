package safefile

import (
	"fmt"
	"io/fs"
	"os"
)

// CanReplace returns the error that Replace would return for target, as far as that can
// be known beforehand. It writes nothing.
func CanReplace(target string) error {
	real, info, err := resolve(target)
	return mayReplace(target, real, info, err)
}

// replaceable checks the file itself, real, and returns what it is; errors name the
// target.
func replaceable(target, real string) (fs.FileInfo, error) {
	info, err := os.Lstat(real)
	if err := mayReplace(target, real, info, err); err != nil {
		return nil, err
	}
	return info, nil
}

// mayReplace is replaceable with what os.Lstat returned for real.
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
	sameGroup, changed := adoptOwner(path, had, like)
	mode &= allModes
	if !sameGroup {
		// What the one group was allowed, another is not: it gets the permissions of
		// others.
		mode = mode&^(0o070|fs.ModeSetgid) | mode&0o007<<3
	}
	if !changed && had.Mode() == mode {
		return nil
	}
	return os.Chmod(path, mode)
}

// allModes are the bits that can be set of a file's mode.
const allModes = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
