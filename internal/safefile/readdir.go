package safefile

import (
	"errors"
	"io/fs"
	"os"
)

// ReadDir reads a folder as [os.ReadDir] does, except that a file in its place is
// never an error that is [fs.ErrNotExist]: Windows calls a path that goes on behind
// a file one that does not exist, and who takes a missing folder for an empty one
// would lose what the file hides.
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
