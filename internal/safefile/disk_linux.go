package safefile

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// renameNew renames, and fails where new exists.
func renameNew(old, new string, _ bool) error {
	// Before version 11 Android kills an app that calls renameat2. Builds for plain
	// Linux run there too (Termux), so the build's own name does not tell.
	if runtime.GOOS == "android" || os.Getenv("ANDROID_ROOT") != "" {
		return errors.ErrUnsupported
	}
	err := unix.Renameat2(unix.AT_FDCWD, old, unix.AT_FDCWD, new, unix.RENAME_NOREPLACE)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
	}
	return nil
}

// startWriteBack lets the disk begin while we still write; the sync at the end then
// has little left to wait for. It is a hint: errors would come again from the sync.
func startWriteBack(f *os.File, from, n int64) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		_ = unix.SyncFileRange(int(fd), from, n, unix.SYNC_FILE_RANGE_WRITE)
	})
}
