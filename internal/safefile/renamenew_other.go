//go:build !(linux || darwin || windows)

package safefile

import "errors"

// renameNew is not supported here.
func renameNew(_, _ string, _ bool) error { return errors.ErrUnsupported }
