//go:build !unix && !windows

package safefile

import (
	"io/fs"
	"os"
)

// Open opens a regular file for reading.
func Open(path string) (*os.File, error) { return os.Open(path) }

// CreateNew creates a file, for reading and writing. The error wraps fs.ErrExist if the name is
// taken.
func CreateNew(path string, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}
