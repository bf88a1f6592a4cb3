package safefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// lockWithin locks a file in the folder .stchat, if that exists: Windows cannot lock
// folders.
func lockWithin(ctx context.Context, dir string, patience time.Duration) (unlock func(), held bool, err error) {
	path := filepath.Join(dir, ".stchat", "lock")
	if CheckPlain(path) != nil {
		return func() {}, false, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return func() {}, false, nil
	}
	all := new(windows.Overlapped)
	return lockFile(ctx, f, patience, func() error {
		err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, all)
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
			return errLocked
		}
		return err
	})
}
