//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Open opens a regular file for reading. On Windows it waits for a program that has the file
// open exclusively. Elsewhere it skips Go's poller, which [os.Open] tries with every file
// although it takes no regular one: that saves five of the ten system calls for looking into
// a small chat.
func Open(path string) (*os.File, error) { return open(path, unix.O_RDONLY, 0) }

// CreateNew creates a file, for reading and writing. The error wraps fs.ErrExist if the name is
// taken.
func CreateNew(path string, perm fs.FileMode) (*os.File, error) {
	return open(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, perm)
}

// openPlain opens a file for reading, but not a link, and not anything that is not ready.
func openPlain(path string) (*os.File, error) {
	f, err := open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	for _, other := range []error{unix.ELOOP, unix.EMLINK, unix.ENXIO} { // a link, on FreeBSD a link, a socket
		if errors.Is(err, other) {
			return nil, notRegular("open", path)
		}
	}
	return f, err
}

func open(path string, how int, perm fs.FileMode) (*os.File, error) {
	for {
		fd, err := unix.Open(path, how|unix.O_CLOEXEC, uint32(perm.Perm()))
		if err == nil {
			return os.NewFile(uintptr(fd), path), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
