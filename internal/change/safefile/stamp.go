package safefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Stamp is what a file looked like at one moment: which file it was (device and inode, or
// the volume and index of Windows), its size, its modification time and, where the system
// has one, the time of its last change of any kind. The zero Stamp is never the
// [Stamp.Same] as another, not even as another zero Stamp.
type Stamp struct {
	info  fs.FileInfo
	ctime int64 // ns since 1970, 0 where there is none
}

// StampOf returns the stamp of an open file.
func StampOf(f *os.File) (Stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return Stamp{}, err
	}
	return stampOfInfo(info), nil
}

// StampPath returns the stamp of the file that path leads to, through symlinks.
func StampPath(path string) (Stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}, err
	}
	return stampOfInfo(info), nil
}

func stampOfInfo(info fs.FileInfo) Stamp {
	// On Windows os.Stat looks up the identity, by path, only when it is first compared; by
	// then the path may lead to another file. Comparing looks it up now.
	os.SameFile(info, info)
	return Stamp{info: info, ctime: changeTime(info)}
}

// Same reports whether both stamps are of one file that did not change in between.
func (s Stamp) Same(o Stamp) bool {
	if !s.SameFile(o) {
		return false
	}
	sameTimes := s.info.ModTime().Equal(o.info.ModTime()) && s.ctime == o.ctime
	return sameTimes && s.info.Size() == o.info.Size()
}

// SameFile reports whether both stamps are of one file, by whatever path, changed or not.
func (s Stamp) SameFile(o Stamp) bool {
	return s.info != nil && o.info != nil && os.SameFile(s.info, o.info)
}

// Regular reports whether the stamp is of a regular file.
func (s Stamp) Regular() bool { return s.info != nil && s.info.Mode().IsRegular() }

// Info returns what the system reported of the file, nil for the zero Stamp.
func (s Stamp) Info() fs.FileInfo { return s.info }

// ChangeTime returns when the file last changed in any way, in ns since 1970; 0 where the
// system has no such time.
func (s Stamp) ChangeTime() int64 { return s.ctime }

// FileID returns the device and inode of the file; path must lead to it, and the stamp must
// not be zero.
func (s Stamp) FileID(path string) (dev, ino uint64, err error) { return fileID(path, s.info) }

// Size returns the file's size in bytes, 0 for the zero Stamp.
func (s Stamp) Size() int64 {
	if s.info == nil {
		return 0
	}
	return s.info.Size()
}

// ModTime returns when the file's content last changed, the zero time for the zero Stamp.
func (s Stamp) ModTime() time.Time {
	if s.info == nil {
		return time.Time{}
	}
	return s.info.ModTime()
}

// Ident identifies a file for another run: one that ends what a killed run began, or
// undoes a change. Unlike a [Stamp] it can be written down, and a new hard link leaves
// it the same.
type Ident struct {
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`          // in ns since 1970
	Hash  string `json:"hash,omitempty"` // SHA-256 in hex; "" if not asked for
}

// IdentOf returns the identity of the regular file at path; symlinks are not followed.
// It includes the hash of a file of up to hashed bytes. The error is [ErrNotRegular] for
// anything else.
func IdentOf(path string, hashed int64) (Ident, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Ident{}, err
	}
	if !info.Mode().IsRegular() {
		return Ident{}, ErrNotRegular
	}
	id := Ident{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	id.Dev, id.Ino, err = fileID(path, info)
	if err != nil || id.Size > hashed {
		return id, err
	}
	f, err := OpenPlain(path)
	if err != nil {
		return id, err
	}
	defer f.Close()
	sum := sha256.New()
	room := make([]byte, min(id.Size+1, 64<<10))
	if _, err := io.CopyBuffer(sum, io.LimitReader(f, hashed+1), room); err != nil {
		return id, err
	}
	id.Hash = hex.EncodeToString(sum.Sum(nil))
	return id, nil
}

// Ident returns the identity of the file with the stamp, which must not be zero; path must lead
// to it. hash is its content's, or "" if that is not known.
func (s Stamp) Ident(path, hash string) (Ident, error) {
	id := Ident{Size: s.Size(), Mtime: s.ModTime().UnixNano(), Hash: hash}
	var err error
	id.Dev, id.Ino, err = s.FileID(path)
	return id, err
}

// FileID returns the device and the inode of the file or folder that path leads to, or
// what Windows has in their place.
func FileID(path string) (dev, ino uint64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	return fileID(path, info)
}

var (
	// ErrChanged means that a file is not as it was when it was read.
	ErrChanged = errors.New("the file changed since it was read")
	// ErrNotRegular means that a target is a folder, FIFO, device or socket.
	ErrNotRegular = errors.New("not a regular file")
	// ErrLink means that a folder is a link, where none is followed.
	ErrLink = errors.New("a link, which is not followed")
	// ErrReadOnly means that a target may not be written to, so it is not replaced
	// either. It wraps fs.ErrPermission.
	ErrReadOnly error = readOnlyError{}
)

type readOnlyError struct{}

func (readOnlyError) Error() string { return "the file is read-only" }
func (readOnlyError) Unwrap() error { return fs.ErrPermission }

// ExistsError means that the name for a new file is taken. It wraps fs.ErrExist.
type ExistsError struct {
	Path string // the target as it was given
}

func (e *ExistsError) Error() string { return e.Path + ": already exists" }

// Unwrap returns fs.ErrExist.
func (e *ExistsError) Unwrap() error { return fs.ErrExist }

// UnsyncedError means that a file was replaced, but that its folder could not be forced
// to disk: the new content is in place, but a power loss may bring back the old.
type UnsyncedError struct {
	Path string // the file that was replaced
	Err  error  // the error of the folder's sync
}

func (e *UnsyncedError) Error() string {
	return e.Path + ": was replaced, but its folder could not be synced: " + e.Err.Error()
}

// Unwrap returns the error of the sync.
func (e *UnsyncedError) Unwrap() error { return e.Err }
