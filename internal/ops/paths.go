package ops

import (
	"errors"
	"fmt"
	"io/fs"
)

// PathError puts the path in front of an error and leaves out the system call. An error without
// a path is returned as it is.
func PathError(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
