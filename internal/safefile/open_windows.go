package safefile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// Open opens a file for reading. Windows refuses that while another program, such as
// a virus scanner, an indexer or a server that is saving, has the file open
// exclusively: Open tries again for about a second.
func Open(path string) (f *os.File, err error) {
	err = again(func() error {
		f, err = os.Open(path)
		return err
	}, windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION)
	return f, err
}

// CreateNew creates a file, for reading and writing. The error wraps fs.ErrExist if the name is
// taken.
func CreateNew(path string, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// patiently retries, for about a second, what fails because a virus scanner or an
// indexer has the file open. Some such failures look like a plain denial of access.
func patiently(do func() error) error {
	return again(do, windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION, windows.ERROR_ACCESS_DENIED)
}

// again retries do, for about a second, while it fails with one of the errors in
// passing.
func again(do func() error, passing ...error) error {
	wait := 5 * time.Millisecond
	for {
		err := do()
		busy := false
		for _, p := range passing {
			busy = busy || errors.Is(err, p)
		}
		if !busy || wait > 640*time.Millisecond {
			return err
		}
		time.Sleep(wait)
		wait *= 2
	}
}
