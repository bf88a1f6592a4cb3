//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safefile

import (
	"context"
	"errors"
	"syscall"
	"time"
)

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
