//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Open opens a regular file to read. On Windows it waits for a program that has the file
// open for itself alone. Elsewhere it does without Go's poller, which [os.Open] offers every
// file and which takes no regular one: that is five of the ten calls to the system that
// looking into a small chat needs.
func Open(path string) (*os.File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			return os.NewFile(uintptr(fd), path), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
