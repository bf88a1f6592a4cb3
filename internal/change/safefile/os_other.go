//go:build !unix && !windows

package safefile

import (
	"errors"
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

func linkFile(old, new string) error { return os.Link(old, new) }

func renameOver(old, new string, _ bool) error { return os.Rename(old, new) }

func removeFile(path string) error { return os.Remove(path) }

func syncDir(string) error { return nil }

func cannotSync(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

func noRenameNew(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

func mayWrite(string) error { return nil }

func adoptOwner(_ string, _, _ fs.FileInfo) (sameGroup, changed bool) { return true, false }

func isRoot() bool { return false }

func ownerOf(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }

func fileID(string, fs.FileInfo) (dev, ino uint64, err error) { return 0, 0, nil }

// processGone returns false: here it is never certain.
func processGone(int) bool { return false }
