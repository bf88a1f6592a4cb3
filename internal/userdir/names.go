package userdir

import (
	"fmt"
	"os"
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

// likePath returns a folder found from a path as the path was written: relative if that was.
func likePath(folder, path string) string {
	if filepath.IsAbs(path) || !filepath.IsAbs(folder) {
		return folder
	}
	return Near(folder)
}

// Near returns a path relative to the working folder, or the path itself where the
// relative one would not lead to the same file.
func Near(path string) string {
	here, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(here, path)
	if err != nil {
		return path
	}
	// ".." leads out of where the working folder is, not out of the link that it was entered by
	if seen, err := os.Stat(rel); err != nil {
		return path
	} else if meant, err := os.Stat(path); err != nil || !os.SameFile(seen, meant) {
		return path
	}
	return rel
}
