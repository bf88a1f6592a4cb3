package safefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames, and fails where new exists.
func renameNew(old, new string, _ bool) error {
	if err := unix.RenamexNp(old, new, unix.RENAME_EXCL); err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
	}
	return nil
}
