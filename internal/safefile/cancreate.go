package safefile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// CanCreate returns an error if no file can be created beside target, as far as
// that can be known beforehand. It writes nothing.
func CanCreate(target string) error {
	dir := filepath.Dir(behind(target))
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		err = cause(err)
	case !info.IsDir():
		err = fs.ErrNotExist
	default:
		if err = mayWrite(dir); err != nil {
			err = fs.ErrPermission
		}
	}
	if err != nil {
		return &fs.PathError{Op: "create a file in", Path: dir, Err: err}
	}
	return nil
}
