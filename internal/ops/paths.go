package ops

import (
	"errors"
	"fmt"
	"io/fs"
)

// PathError puts the path in front of an error and leaves the system call out.
func PathError(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
