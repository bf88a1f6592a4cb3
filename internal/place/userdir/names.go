package userdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/place/names"
	"stchat/internal/text/visible"
)

// UnsafeNameError means that SillyTavern could not have given a name found in a file to a file
// of its own, so that it might lead out of the folder.
type UnsafeNameError struct {
	Name   string // as it was found; not safe to print raw
	Folder string // the folder that it should be in
}

func (e *UnsafeNameError) Error() string {
	return fmt.Sprintf("%s: the name %q is not safe as a file's name, and was not followed", e.Folder, visible.Clip(e.Name, 80))
}

// Within returns the path of the file in folder that name, found in a stranger's file, refers
// to; ext ("", ".json", ".jsonl") is appended to it. SillyTavern passes every name through
// sanitize-filename before it touches the disk, so whatever that would change is refused with
// [*UnsafeNameError]: separators, "..", drives and streams, control characters, names of
// devices, names that are too long, and on every system what only Windows cannot handle. The
// file need not exist.
func Within(folder, name, ext string) (path string, err error) {
	if name == "" || !names.Safe(name+ext) {
		return "", &UnsafeNameError{Name: name, Folder: folder}
	}
	return filepath.Join(folder, name+ext), nil
}

// ChatName returns the name of the chat at path: the file's name less one ".jsonl", in any
// letter case.
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

// HasExtension reports whether a file's name ends in ".jsonl", in any letter case, as every
// chat's does.
func HasExtension(file string) bool {
	n := len(file) - len(names.Extension)
	return n >= 0 && strings.EqualFold(file[n:], names.Extension)
}

// RealPath returns path made absolute and with its links followed: the same for all spellings
// of a file's path, letter case apart. If the file does not exist, the links among those of its
// folders are followed that do.
func RealPath(path string) string {
	path = absolute(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	folder := filepath.Dir(path)
	if folder == path {
		return path
	}
	return filepath.Join(RealPath(folder), filepath.Base(path))
}

// Inside reports whether a path is that of a folder or of something in it, wherever links lead.
func Inside(folder, path string) bool {
	rel, err := filepath.Rel(RealPath(folder), RealPath(path))
	return err == nil && filepath.IsLocal(rel)
}

// absolute returns path made absolute, or as it is if the working folder is unknown.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// likePath returns a folder that was found from path, made relative if path is.
func likePath(folder, path string) string {
	if filepath.IsAbs(path) || !filepath.IsAbs(folder) {
		return folder
	}
	return Near(folder)
}

// Near returns a path relative to the working folder, or the path itself if the relative one
// would not lead to the same file.
func Near(path string) string {
	here, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(here, path)
	if err != nil {
		return path
	}

	// ".." leads out of the working folder itself, not out of the link through which it was
	// entered
	seen, errSeen := os.Stat(rel)
	meant, errMeant := os.Stat(path)
	if errSeen != nil || errMeant != nil || !os.SameFile(seen, meant) {
		return path
	}
	return rel
}
