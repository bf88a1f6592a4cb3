package safefile

import (
	"errors"

	"golang.org/x/sys/windows"
)

// processGone reports whether it is certain that no process has this id.
func processGone(pid int) bool {
	if pid <= 0 {
		return false
	}
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		// The error of OpenProcess for an id that no process has.
		return errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	defer windows.CloseHandle(h)
	// An ended process keeps its id while somebody holds a handle to it.
	ev, err := windows.WaitForSingleObject(h, 0)
	return err == nil && ev == windows.WAIT_OBJECT_0
}
