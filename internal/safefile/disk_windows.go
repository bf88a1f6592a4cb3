package safefile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// linkFile is not used here: renameNew does in one step what a link and a removal do in two,
// and also on file systems without links.
func linkFile(_, _ string) error { return errors.ErrUnsupported }

// renameNew renames; without MOVEFILE_REPLACE_EXISTING that fails where new exists.
func renameNew(old, new string, sync bool) error { return moveFile(old, new, 0, sync) }

func renameOver(old, new string, sync bool) error {
	return moveFile(old, new, windows.MOVEFILE_REPLACE_EXISTING, sync)
}

// moveFile renames; with sync it returns when the move has reached the disk.
func moveFile(old, new string, flags uint32, sync bool) error {
	if sync {
		flags |= windows.MOVEFILE_WRITE_THROUGH
	}
	from, err := windows.UTF16PtrFromString(old)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
	}
	to, err := windows.UTF16PtrFromString(new)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
	}
	err = patiently(func() error { return windows.MoveFileEx(from, to, flags) })
	if err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
	}
	return nil
}

func removeFile(path string) error {
	return patiently(func() error { return os.Remove(path) })
}

// syncDir does nothing: Windows does not sync folders. The renames ask for write-through
// instead.
func syncDir(string) error { return nil }

// cannotSync reports whether an error of FlushFileBuffers means that it is not supported here.
func cannotSync(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_NOT_SUPPORTED)
}

// noRenameNew reports whether an error of renameNew means that it is not supported here.
func noRenameNew(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// mayWrite checks nothing: the rename checks ACLs, and the read-only attribute is in the mode.
func mayWrite(string) error { return nil }

// adoptOwner does nothing: owner and ACL are inherited from the folder.
func adoptOwner(_ string, _, _ fs.FileInfo) (sameGroup, changed bool) { return true, false }

func sameOwner(_, _ fs.FileInfo) bool { return true }
