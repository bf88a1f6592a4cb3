package userdir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/names"
)

// UnsafeNameError says that a name found in a file is no name that SillyTavern could
// have given to a file of its own, and might lead out of the folder.
type UnsafeNameError struct {
	Name   string // as it was found; not fit to be printed raw
	Folder string // the folder it was to be in
}

func (e *UnsafeNameError) Error() string {
	const enough = 80
	name := e.Name
	if len(name) > enough {
		name = name[:enough] + "…"
	}
	return fmt.Sprintf("%s: the name %q is not safe as a file's name, and was not followed", e.Folder, name)
}

// Within gives the path of the file that name, out of a stranger's file, means in
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

// ChatName gives the name of the chat at path: the file's name less one ".jsonl".
func ChatName(path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(path), names.Extension)
}

// ListChats gives the names of the chats in folder, sorted by bytes and without
// ".jsonl": regular files only, as SillyTavern lists them. The error is that of
// reading the folder, fs.ErrNotExist among them.
func ListChats(folder string) (chats []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), names.Extension)
		// A file called just ".jsonl" has no extension to Node.
		if ok && name != "" && entry.Type().IsRegular() {
			chats = append(chats, name)
		}
	}
	// ReadDir sorts with the extension, where "a b.jsonl" comes before "a.jsonl".
	slices.Sort(chats)
	return chats, nil
}
