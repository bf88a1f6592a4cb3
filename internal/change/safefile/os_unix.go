//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"

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

func linkFile(old, new string) error { return os.Link(old, new) }

func renameOver(old, new string, _ bool) error { return os.Rename(old, new) }

func removeFile(path string) error { return os.Remove(path) }

// syncDir forces a folder's entries to disk. A folder that may be written but not
// listed cannot be opened, and some file systems cannot sync one: neither is an error.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	}

	err = d.Sync()
	if cannotSync(err) {
		err = nil
	}
	if e := d.Close(); err == nil {
		err = e
	}
	return err // unwrapped: callers put another path in it
}

// cannotSync reports whether an error of fsync means that it is not supported here.
func cannotSync(err error) bool {
	unsupported := []error{syscall.EINVAL, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.EBADF, syscall.ENOSYS, syscall.ENOTTY}
	return slices.ContainsFunc(unsupported, func(e error) bool { return errors.Is(err, e) })
}

// noRenameNew reports whether an error of renameNew means that it is not supported
// here: a file system says so with EINVAL, an old sandbox with EPERM.
func noRenameNew(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EPERM)
}

// mayWrite returns an error if the user may not write to an existing file or folder.
func mayWrite(path string) error {
	// access(2), not faccessat2: Android kills a process that calls the latter.
	err := unix.Access(path, unix.W_OK)
	switch {
	case err == nil, errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EINVAL):
		return nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ErrReadOnly
	default:
		return err
	}
}

// adoptOwner gives the file at path, which is as had says, the owner and group of like, as far
// as the user may. It reports whether the file has that group in the end, and whether it was
// changed.
func adoptOwner(path string, had, like fs.FileInfo) (sameGroup, changed bool) {
	want, ok := like.Sys().(*syscall.Stat_t)
	have, ok2 := had.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || have.Uid == want.Uid && have.Gid == want.Gid {
		return true, false
	}
	if os.Lchown(path, int(want.Uid), int(want.Gid)) == nil {
		return true, true
	}
	// Only root may give files away, but anyone may give theirs to a group of their
	// own.
	return have.Gid == want.Gid || os.Lchown(path, -1, int(want.Gid)) == nil, true
}

// isRoot reports whether this process may give files away.
func isRoot() bool { return os.Geteuid() == 0 }

// ownerOf returns the owner and group of a file.
func ownerOf(info fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}

func fileID(_ string, info fs.FileInfo) (dev, ino uint64, err error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, nil
	}
	return uint64(st.Dev), uint64(st.Ino), nil //nolint:unconvert // their types are the system's
}

// processGone reports whether it is certain that no process has this id.
func processGone(pid int) bool {
	return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
