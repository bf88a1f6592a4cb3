package safefile

import (
	"fmt"
	"io/fs"
	"os"
)

// CanReplace returns the error that Replace would return for target, as far as that can
// be known beforehand. It writes nothing.
func CanReplace(target string) error {
	_, err := replaceable(target, behind(target))
	return err
}

// replaceable checks the file itself, real, and returns what it is; errors name the
// target.
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

// adopt gives the file at path a mode and, as far as permitted, the owner of like.
func adopt(path string, like fs.FileInfo, mode fs.FileMode) error {
	sameGroup, err := adoptOwner(path, like)
	if err != nil {
		return err
	}
	mode &= fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	if !sameGroup {
		// What the one group was allowed, another is not: it gets the permissions of
		// others.
		mode = mode&^(0o070|fs.ModeSetgid) | mode&0o007<<3
	}
	return os.Chmod(path, mode)
}
