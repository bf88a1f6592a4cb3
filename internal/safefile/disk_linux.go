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

// reserve sets room aside where that is known to pay: btrfs would not compress what is
// written there, and tmpfs fills it with zeros. It is a hint: a full disk is told by the
// writes.
func reserve(f *os.File, from, n int64) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		var fs unix.Statfs_t
		if unix.Fstatfs(int(fd), &fs) == nil && (fs.Type == unix.EXT4_SUPER_MAGIC || fs.Type == unix.XFS_SUPER_MAGIC) {
			_ = unix.Fallocate(int(fd), unix.FALLOC_FL_KEEP_SIZE, from, n)
		}
	})
}
