package userdir

import (
	"fmt"
	"path/filepath"
	"strings"

	"stchat/internal/names"
	"stchat/internal/visible"
)

// UnsafeNameError says that a name found in a file is no name that SillyTavern could
// have given to a file of its own, and might lead out of the folder.
type UnsafeNameError struct {
	Name   string // as it was found; not fit to be printed raw
	Folder string // the folder it was to be in
}

func (e *UnsafeNameError) Error() string {
	return fmt.Sprintf("%s: the name %q is not safe as a file's name, and was not followed", e.Folder, visible.Clip(e.Name, 80))
}

// Within returns the path of the file that name, out of a stranger's file, means in
// folder; ext ("", ".json", ".jsonl") is put after it. SillyTavern passes every name
// through sanitize-filename before it touches the disk, so whatever that would change
// is refused with [*UnsafeNameError]: separators, "..", drives and streams, control
// characters, names of devices, what is too long, and on every system what only
// Windows would trip over. The file need not exist.
func Within(folder, name, ext string) (path string, err error) {
	if name == "" || !names.Safe(name+ext) {
		return "", &UnsafeNameError{Name: name, Folder: folder}
	}
	return filepath.Join(folder, name+ext), nil
}

// ChatName returns the name of the chat at path: the file's name less one
// ".jsonl", in whatever letter case.
func ChatName(path string) string {
	if path == "" {
		return ""
	}
	base := filepath.Base(path)
	if HasExtension(base) {
		return base[:len(base)-len(names.Extension)]
	}
	return base
}

// HasExtension reports whether a file's name ends in ".jsonl", in whatever
// letter case, as every chat's does.
func HasExtension(file string) bool {
	n := len(file) - len(names.Extension)
	return n >= 0 && strings.EqualFold(file[n:], names.Extension)
}

// RealPath returns an absolute path without links, as far as the path exists: the
// same one for all spellings of a file's path, letter case apart.
func RealPath(path string) string {
	path = absolute(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(real, filepath.Base(path))
	}
	return path
}

// absolute returns an absolute path, where the working folder can be told.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
