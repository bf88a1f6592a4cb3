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

// realm identifies where our process id is valid: this boot of this Mac.
func realm() (parts []string, sure bool) {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	return []string{"darwin", boot}, err == nil && boot != ""
}
