package safefile

import (
	"errors"
	"io/fs"
	"os"
)

// ReadDir reads a folder as [os.ReadDir] does, except that the error is never
// [fs.ErrNotExist] if path is a file. Windows reports such a path as one that does
// not exist, and callers take a missing folder for an empty one.
func ReadDir(path string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, e := os.Stat(path); e == nil && !info.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: path, Err: errNotDir}
		}
	}
	return entries, err
}

var errNotDir = errors.New("not a directory")
