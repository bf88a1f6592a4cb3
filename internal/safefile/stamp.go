package safefile

import (
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
	return s.info != nil && o.info != nil &&
		os.SameFile(s.info, o.info) &&
		s.info.Size() == o.info.Size() &&
		s.info.ModTime().Equal(o.info.ModTime()) &&
		s.ctime == o.ctime
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
