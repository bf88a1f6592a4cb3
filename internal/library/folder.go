package library

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/extension/luker"
	"stchat/internal/names"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// Folder is a folder with chats, under the path with which it was looked up.
type Folder struct {
	Path   string
	Kind   userdir.Kind // of the chats in it
	Owner  string       // of solo chats: the character's folder
	Dir    userdir.Dir  // the user folder
	HasDir bool

	listing
}

// listing is what a folder contains, shared by all spellings of its path.
type listing struct {
	Names
	Err error // why the folder could not be read

	files    map[string]string // file names of chats that do not end in exactly ".jsonl", by chat
	sidecars []string          // file names of Luker's sidecars, sorted
	strays   []string          // file names of chats with a second extension
}

// textExtension is what editors and downloads append to a chat's own extension.
const textExtension = ".txt"

func list(path string) listing {
	l := listing{files: map[string]string{}}
	var chats []string
	entries, err := safefile.ReadDir(path)
	l.Err = err
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		name := userdir.ChatName(e.Name())
		switch {
		case userdir.HasExtension(e.Name()) && name != "":
			chats = append(chats, name)
			if delete(l.files, name); e.Name() != name+names.Extension {
				l.files[name] = e.Name()
			}
		case luker.IsSidecar(e.Name()):
			l.sidecars = append(l.sidecars, e.Name())
		case isStray(e.Name()):
			l.strays = append(l.strays, e.Name())
		}
	}
	// ReadDir sorts with the extension, where "a b.jsonl" comes before "a.jsonl"
	slices.Sort(chats)
	slices.Sort(l.sidecars)
	chats = slices.Compact(chats) // X.jsonl and X.JSONL
	l.Names = NamesOf(chats)
	return l
}

// isStray reports whether a file's name is that of a chat followed by ".txt".
func isStray(file string) bool {
	name, ok := strings.CutSuffix(file, textExtension)
	return ok && userdir.HasExtension(name)
}

// File returns the path of a chat that the folder contains.
func (f *Folder) File(chat string) string {
	if file, ok := f.files[chat]; ok {
		return filepath.Join(f.Path, file)
	}
	return filepath.Join(f.Path, chat+names.Extension)
}

// Target is [Names.Target], but also asks the disk about a name that is not listed,
// since the disk may regard different spellings as one name (macOS: composed
// letters).
func (f *Folder) Target(name string) (chat string, ok bool) {
	if chat, ok := f.Names.Target(name); ok {
		return chat, true
	}
	safe, err := names.Sanitize(name)
	if err != nil {
		return "", false
	}
	path, err := userdir.Within(f.Path, safe, names.Extension)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(path)
	return safe, err == nil && info.Mode().IsRegular()
}

// Strays returns the names of files named like chats, but with ".txt" at the end.
func (f *Folder) Strays() []string { return f.strays }

// Orphans returns the names of Luker's sidecars that belong to no chat of the folder.
func (f *Folder) Orphans() (files []string) {
	for _, file := range f.sidecars {
		if !slices.ContainsFunc(luker.Chats(file), f.Has) {
			files = append(files, file)
		}
	}
	return files
}

// Sidecars returns the sidecars that Luker keeps beside the chat.
func (f *Folder) Sidecars(chat string) []luker.Sidecar {
	prefix := strings.TrimSuffix(luker.SidecarName(chat, ""), ".json")
	from, _ := slices.BinarySearch(f.sidecars, prefix)
	to := from
	for to < len(f.sidecars) && strings.HasPrefix(f.sidecars[to], prefix) {
		to++
	}
	return luker.Among(f.sidecars[from:to], f.Path, chat)
}
