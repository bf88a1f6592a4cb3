package ops

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stchat/internal/safefile"
)

// realPath gives an absolute path with links followed as far as it exists.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(real, filepath.Base(path))
	}
	return path
}

// sameFolder tells whether two paths lead to one folder. That one does not
// exist is no error: what is made there will say so.
func sameFolder(a, b string) (bool, error) {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	if err := errors.Join(aerr, berr); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	return os.SameFile(ai, bi), nil
}

// pathError puts the path in front and leaves the system call out.
func pathError(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// cause takes the path off an error whose reader has just been told it.
func cause(err error) error {
	if unsynced(err) {
		return err // it says more than its cause does
	}
	if errors.Is(err, safefile.ErrChanged) {
		return safefile.ErrChanged
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
