//go:build !(linux || darwin || windows)

package safefile

import "errors"

// renameNew is not to be had here.
func renameNew(_, _ string) error { return errors.ErrUnsupported }
