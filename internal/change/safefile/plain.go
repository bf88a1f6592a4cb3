package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenPlain opens a file in a folder that others may have put anything into. It opens only
// regular files; the error for a link, a FIFO or anything else wraps [ErrNotRegular]. It follows
// no link and waits for nobody.
func OpenPlain(path string) (*os.File, error) {
	f, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular("open", path)
	}
	if err != nil {
		_ = f.Close() // nothing was written to it
		return nil, err
	}
	return f, nil
}

// ErrTooLarge means that a file holds more than may be read of it.
var ErrTooLarge = errors.New("it is too large")

// ReadPlain reads a file as [OpenPlain] opens it. If it holds more than most bytes, the error wraps
// [ErrTooLarge]; what its size tells so is not read.
func ReadPlain(path string, most int64) ([]byte, error) {
	f, err := OpenPlain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	tooLarge := &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: more than %d bytes", ErrTooLarge, most)}
	if info.Size() > most {
		return nil, tooLarge
	}
	data, err := readAll(io.LimitReader(f, most+1), info.Size())
	if err != nil {
		return data, err
	}
	if int64(len(data)) > most { // it has grown, or has no size
		return nil, tooLarge
	}
	return data, nil
}

// CheckPlain returns an error if something else than a regular file has the name. It is for what
// a library opens by its path.
func CheckPlain(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return notRegular("open", path)
	}
	return nil
}

// CheckDatabase is [CheckPlain] for a database of SQLite, the files that it keeps beside it, and
// the folder that they are in, if that is .stchat.
func CheckDatabase(path string) error {
	dir := filepath.Dir(path)
	if info, err := os.Lstat(dir); err == nil && filepath.Base(dir) == ".stchat" && info.Mode().Type() == fs.ModeSymlink {
		return &fs.PathError{Op: "open", Path: dir, Err: ErrLink}
	}
	for _, beside := range []string{"", "-journal", "-wal", "-shm"} {
		if err := CheckPlain(path + beside); err != nil {
			return err
		}
	}
	return nil
}

func notRegular(op, path string) error { return &fs.PathError{Op: op, Path: path, Err: ErrNotRegular} }
