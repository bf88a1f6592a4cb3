//go:build unix

package safefile

import (
	"errors"
	"syscall"
)

// processGone reports whether it is certain that no process has this id.
func processGone(pid int) bool {
	return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
