//go:build !unix && !windows

package safefile

import (
	"errors"
	"io/fs"
	"os"
)

func linkFile(old, new string) error { return os.Link(old, new) }

func renameOver(old, new string, _ bool) error { return os.Rename(old, new) }

func removeFile(path string) error { return os.Remove(path) }

func syncDir(string) error { return nil }

func cannotSync(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

func noRenameNew(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

func mayWrite(string) error { return nil }

func adoptOwner(_ string, _, _ fs.FileInfo) (sameGroup, changed bool) { return true, false }

func sameOwner(_, _ fs.FileInfo) bool { return true }
