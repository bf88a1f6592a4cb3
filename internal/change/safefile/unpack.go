package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrLonger means that there is more to a file than was said.
var ErrLonger = errors.New("is longer than declared")

// Unpacking is a private folder for files that are read and then dropped.
type Unpacking struct{ Dir string }

// unpackedPrefix is how the names of such folders begin. A name of [TempName] follows.
const unpackedPrefix = "stchat-unpacked"

// Unpack makes a private folder in the system's folder for temporary files. It must be closed. Those
// that runs of this user left there when they were killed are removed.
func Unpack() (*Unpacking, error) {
	dir := filepath.Join(os.TempDir(), unpackedPrefix+TempName())
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	sweepUnpacked(dir, ThisProcess(), processGone)
	return &Unpacking{dir}, nil
}

// sweepUnpacked removes the folders beside mine of runs that are gone. Doubtful ones stay, and so do
// those of other users.
func sweepUnpacked(mine string, self *Self, gone func(pid int) bool) {
	own, err := os.Lstat(mine)
	if err != nil || !self.sure {
		return
	}
	temporary := filepath.Dir(mine)
	f, err := os.Open(temporary)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // what could be read
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, unpackedPrefix)
		if !ok {
			continue
		}
		tag, pid, ok := parseTempName(rest)
		if !ok || tag != self.tag || !gone(pid) {
			continue
		}
		path := filepath.Join(temporary, name)
		info, err := os.Lstat(path)
		if err == nil && info.IsDir() && sameOwner(own, info) {
			_ = os.RemoveAll(path) // what stays is in nobody's way
		}
	}
}

// Close removes the folder with all that is in it.
func (u *Unpacking) Close() error { return os.RemoveAll(u.Dir) }

// Add writes a file of so many bytes, whose path in the folder must be local and free. The error
// wraps [ErrLonger] if r has more. It does not name the folder, but the one in which that is.
func (u *Unpacking) Add(rel string, r io.Reader, size int64) (err error) {
	if !filepath.IsLocal(rel) {
		return fmt.Errorf("%s: not a path in the folder", rel)
	}
	defer func() {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("unpacked into %s: %w", filepath.Dir(u.Dir), pe.Err)
		}
	}()

	path := filepath.Join(u.Dir, rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := CreateNew(path, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err := io.Copy(f, io.LimitReader(r, size+1))
	switch {
	case err != nil:
		return err
	case n > size:
		return ErrLonger
	case n < size:
		return io.ErrUnexpectedEOF
	}
	return nil
}
