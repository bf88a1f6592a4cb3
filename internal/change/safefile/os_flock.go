//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safefile

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// lock keeps other runs of stchat from replacing the file at path until unlock is
// called, so that between a look at the file and its replacement nobody else's edit
// gets lost. Programs that do not ask for locks, such as SillyTavern, are not kept
// out. It does nothing where locks are not supported, as on some network disks, or
// when another run holds the lock for longer than a second.
func lock(path string) (unlock func()) {
	unlock, _, _ = lockWithin(context.Background(), path, time.Second)
	return unlock
}

func lockWithin(ctx context.Context, dir string, patience time.Duration) (unlock func(), held bool, err error) {
	f, err := Open(dir)
	if err != nil {
		return func() {}, false, nil
	}
	return lockFile(ctx, f, patience, func() error {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			return errLocked
		}
		return err
	})
}

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
