//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safefile

import (
	"context"
	"time"
)

// lock keeps other runs of stchat from replacing the file at path until unlock is
// called, so that between a look at the file and its replacement nobody else's edit
// gets lost. Who does not ask for locks, SillyTavern among them, is not kept from
// anything. Where locks are not to be had it does nothing: on some network disks, or
// when somebody holds one for a second.
func lock(path string) (unlock func()) {
	unlock, _, _ = lockWithin(context.Background(), path, time.Second)
	return unlock
}
