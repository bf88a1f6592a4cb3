//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safefile

import (
	"context"
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
