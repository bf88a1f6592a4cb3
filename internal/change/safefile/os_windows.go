package safefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// linkFile is not used here: renameNew does in one step what a link and a removal do in two,
// and also on file systems without links.
func linkFile(_, _ string) error { return errors.ErrUnsupported }

// renameNew renames; without MOVEFILE_REPLACE_EXISTING that fails where new exists.
func renameNew(old, new string, sync bool) error { return moveFile(old, new, 0, sync) }

func renameOver(old, new string, sync bool) error {
	return moveFile(old, new, windows.MOVEFILE_REPLACE_EXISTING, sync)
}

// moveFile renames; with sync it returns when the move has reached the disk.
func moveFile(old, new string, flags uint32, sync bool) error {
	if sync {
		flags |= windows.MOVEFILE_WRITE_THROUGH
	}
	from, err := windows.UTF16PtrFromString(old)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
	}
	to, err := windows.UTF16PtrFromString(new)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
	}
	err = patiently(func() error { return windows.MoveFileEx(from, to, flags) })
	if err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
	}
	return nil
}

func removeFile(path string) error {
	return patiently(func() error { return os.Remove(path) })
}

// syncDir does nothing: Windows does not sync folders. The renames ask for write-through
// instead.
func syncDir(string) error { return nil }

// cannotSync reports whether an error of FlushFileBuffers means that it is not supported here.
func cannotSync(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_NOT_SUPPORTED)
}

// noRenameNew reports whether an error of renameNew means that it is not supported here.
func noRenameNew(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// mayWrite checks nothing: the rename checks ACLs, and the read-only attribute is in the mode.
func mayWrite(string) error { return nil }

// adoptOwner does nothing: owner and ACL are inherited from the folder.
func adoptOwner(_ string, _, _ fs.FileInfo) (sameGroup, changed bool) { return true, false }

func isRoot() bool { return false }

func ownerOf(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }

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
		busy := slices.ContainsFunc(passing, func(p error) bool { return errors.Is(err, p) })
		if !busy || wait > 640*time.Millisecond {
			return err
		}
		time.Sleep(wait)
		wait *= 2
	}
}

// fileID asks the file itself: os.Stat does not expose what it found out.
func fileID(path string, _ fs.FileInfo) (dev, ino uint64, err error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, 0, err
	}
	h, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return 0, 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer windows.CloseHandle(h)
	var d windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &d); err != nil {
		return 0, 0, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return uint64(d.VolumeSerialNumber), uint64(d.FileIndexHigh)<<32 | uint64(d.FileIndexLow), nil
}

// lockWithin locks a file in the folder .stchat, if that exists: Windows cannot lock
// folders.
func lockWithin(ctx context.Context, dir string, patience time.Duration) (unlock func(), held bool, err error) {
	path := filepath.Join(dir, ".stchat", "lock")
	if CheckPlain(path) != nil {
		return func() {}, false, nil
	}
	var f *os.File
	err = again(func() (err error) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		return err
	}, windows.ERROR_SHARING_VIOLATION)
	if err != nil {
		if !errors.Is(err, windows.ERROR_SHARING_VIOLATION) { // there is a lock, which may be another run's
			err = nil
		}
		return func() {}, false, err
	}

	all := new(windows.Overlapped)
	return lockFile(ctx, f, patience, func() error {
		err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, all)
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
			return errLocked
		}
		return err
	})
}

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

// realm identifies where our process id is valid: this installation of Windows. An id
// from before a restart may have gone to another process since; then its file just
// stays.
func realm() (parts []string, sure bool) {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return []string{"windows"}, false
	}
	defer k.Close()
	guid, _, err := k.GetStringValue("MachineGuid")
	return []string{"windows", guid}, err == nil && guid != ""
}

// machine returns the ID of the Windows installation.
func machine() string {
	parts, _ := realm()
	return parts[len(parts)-1]
}
