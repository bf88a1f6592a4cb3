package safefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrLonger means that there is more to a file than was said.
var ErrLonger = errors.New("is longer than declared")

// Unpacking is a private folder for files that are read and then dropped.
type Unpacking struct{ Dir string }

// Unpack makes a private folder in the system's folder for temporary files. It must be closed.
func Unpack() (*Unpacking, error) {
	dir, err := os.MkdirTemp("", "stchat-unpacked-")
	return &Unpacking{dir}, err
}

// Close removes the folder with all that is in it.
func (u *Unpacking) Close() error { return os.RemoveAll(u.Dir) }

// Add writes a file of so many bytes, whose path in the folder must be local and free. The error
// wraps [ErrLonger] if r has more.
func (u *Unpacking) Add(rel string, r io.Reader, size int64) (err error) {
	if !filepath.IsLocal(rel) {
		return fmt.Errorf("%s: not a path in the folder", rel)
	}
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
