package safefile

import (
	"errors"
	"io/fs"
)

var (
	// ErrChanged means that a file is not as it was when it was read.
	ErrChanged = errors.New("the file changed since it was read")
	// ErrNotRegular means that a target is a folder, FIFO, device or socket.
	ErrNotRegular = errors.New("not a regular file")
	// ErrLink means that a folder is a link, where none is followed.
	ErrLink = errors.New("a link, which is not followed")
	// ErrReadOnly means that a target may not be written to, so it is not replaced
	// either. It wraps fs.ErrPermission.
	ErrReadOnly error = readOnlyError{}
)

type readOnlyError struct{}

func (readOnlyError) Error() string { return "the file is read-only" }
func (readOnlyError) Unwrap() error { return fs.ErrPermission }

// ExistsError means that the name for a new file is taken. It wraps fs.ErrExist.
type ExistsError struct {
	Path string // the target as it was given
}

func (e *ExistsError) Error() string { return e.Path + ": already exists" }

// Unwrap returns fs.ErrExist.
func (e *ExistsError) Unwrap() error { return fs.ErrExist }

// UnsyncedError means that a file was replaced, but that its folder could not be forced
// to disk: the new content is in place, but a power loss may bring back the old.
type UnsyncedError struct {
	Path string // the file that was replaced
	Err  error  // the error of the folder's sync
}

func (e *UnsyncedError) Error() string {
	return e.Path + ": was replaced, but its folder could not be synced: " + e.Err.Error()
}

// Unwrap returns the error of the sync.
func (e *UnsyncedError) Unwrap() error { return e.Err }
