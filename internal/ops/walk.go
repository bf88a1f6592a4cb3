package ops

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/names"
	"stchat/internal/userdir"
)

// Walked is what the PATHs of a command mean.
type Walked struct {
	Chats []Target
	Users []userdir.Dir // the PATHs that are user folders
	Errs  []error       // a PATH, or a folder below one, that cannot be read

	sizes bool
}

// Target is one chat file that a PATH means.
type Target struct {
	Path string
	Size int64
	From string // the folder among the PATHs below which it was found; empty: it is a PATH itself
}

// Walk finds the chats that PATHs mean: a file means itself, a user folder the
// chats in chats/*/ and "group chats"/, any other folder every *.jsonl below it.
// Links below a PATH are not followed. Chats come in the order of the PATHs,
// those of a folder sorted by path, each once.
func Walk(paths []string) Walked { return walk(paths, true) }

// walk is [Walk]; without sizes those of chats found in folders are 0, which
// saves a look at each file.
func walk(paths []string, sizes bool) Walked {
	w := Walked{sizes: sizes}
	seen := map[string]bool{}
	add := func(t Target) {
		if key := filepath.Clean(t.Path); !seen[key] {
			seen[key] = true
			w.Chats = append(w.Chats, t)
		}
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			w.Errs = append(w.Errs, pathError(err))
		case info.Mode().IsRegular():
			add(Target{Path: path, Size: info.Size()})
		case !info.IsDir():
			w.Errs = append(w.Errs, fmt.Errorf("%s: not a regular file", path))
		case userdir.IsUserDir(path):
			dir := userdir.Dir{Root: path}
			w.Users = append(w.Users, dir)
			w.walkUser(dir, add)
		default:
			w.walkFolder(path, path, true, add)
		}
	}
	return w
}

// walkUser finds the chats where SillyTavern keeps them.
func (w *Walked) walkUser(dir userdir.Dir, add func(Target)) {
	characters, err := os.ReadDir(dir.Chats())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Errs = append(w.Errs, pathError(err))
	}
	for _, c := range characters {
		if c.IsDir() {
			w.walkFolder(filepath.Join(dir.Chats(), c.Name()), dir.Root, false, add)
		}
	}
	if _, err := os.Stat(dir.GroupChats()); err == nil {
		w.walkFolder(dir.GroupChats(), dir.Root, false, add)
	}
}

// walkFolder finds the chats in a folder, and with deep in those below it.
func (w *Walked) walkFolder(folder, from string, deep bool, add func(Target)) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		w.Errs = append(w.Errs, pathError(err))
		return
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(chatKey(a.Name()), chatKey(b.Name())) })
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case e.IsDir() && deep:
			w.walkFolder(path, from, deep, add)
		case e.Type().IsRegular() && strings.HasSuffix(e.Name(), names.Extension) && e.Name() != names.Extension:
			t := Target{Path: path, From: from}
			if w.sizes {
				info, err := e.Info()
				if err != nil {
					w.Errs = append(w.Errs, pathError(err))
					continue
				}
				t.Size = info.Size()
			}
			add(t)
		}
	}
}

// chatKey sorts a chat before those whose names go on where its own ends.
func chatKey(name string) string { return strings.TrimSuffix(name, names.Extension) }
