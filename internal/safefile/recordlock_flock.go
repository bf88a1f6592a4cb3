//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safefile

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// RecordLocks returns an error where the disk of an open file has no locks on parts of files,
// which databases need: some network disks have none. The error does not name the file. A
// shared lock on the first byte is taken for a moment, and every other lock of this kind that
// the process has on the file is dropped when f is closed.
func RecordLocks(f *os.File) error {
	lock := syscall.Flock_t{Type: syscall.F_RDLCK, Whence: io.SeekStart, Len: 1}
	err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &lock)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EINTR) {
		return nil // somebody has it
	}
	if err != nil {
		return err
	}
	lock.Type = syscall.F_UNLCK
	return syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &lock)
}
