//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safefile

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// lock keeps other runs of stchat from replacing the file at path until unlock is
// called, so that between a look at the file and its replacement nobody else's edit
// gets lost. Who does not ask for locks, SillyTavern among them, is not kept from
// anything. Where locks are not to be had it does nothing: on some network disks, or
// when somebody holds one for a second.
func lock(path string) (unlock func()) {
	f, err := os.Open(path)
	if err != nil {
		return func() {}
	}
	const patience, pause = time.Second, time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		busy := errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR)
		if !busy || waited >= patience {
			break
		}
		time.Sleep(pause)
	}
	return func() { _ = f.Close() } // and with it the lock
}
