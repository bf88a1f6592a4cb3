package safefile

import (
	"errors"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// renameNew renames, and fails where new exists.
func renameNew(old, new string, _ bool) error {
	// Before version 11 Android kills an app that calls renameat2. Builds for plain
	// Linux run there too (Termux), so GOOS alone does not show it.
	if runtime.GOOS == "android" || os.Getenv("ANDROID_ROOT") != "" {
		return errors.ErrUnsupported
	}
	err := unix.Renameat2(unix.AT_FDCWD, old, unix.AT_FDCWD, new, unix.RENAME_NOREPLACE)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
	}
	return nil
}

// startWriteBack makes the disk begin while we still write, so that the sync at the end
// has little left to wait for. It is a hint: the sync would report errors again.
func startWriteBack(f *os.File, from, n int64) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		_ = unix.SyncFileRange(int(fd), from, n, unix.SYNC_FILE_RANGE_WRITE)
	})
}

// reserve reserves room on the file systems where that is known to pay. On others it can
// cost: btrfs would not compress what is written there, and tmpfs fills it with zeros.
// It is a hint: the writes report a full disk.
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

// realm identifies where our process id is valid: the boot id stands for one boot of
// one machine or virtual machine, the link names the PID namespace of a container.
func realm() (parts []string, sure bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	ns, err2 := os.Readlink("/proc/self/ns/pid")
	id := strings.TrimSpace(string(boot))
	return []string{"linux", id, ns}, err == nil && err2 == nil && id != "" && ns != ""
}

// machine returns the installation's ID, or without one, as in a container, the host name.
func machine() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if id, err := os.ReadFile(path); err == nil && len(strings.TrimSpace(string(id))) == 32 {
			return strings.TrimSpace(string(id))
		}
	}
	host, _ := os.Hostname()
	return host
}
