// Package library looks up what surrounds chats, each thing once: what their
// folders contain, which group files a user folder has, where a lorebook is and
// which names are free for a new one, and whether Luker keeps it all in a
// database.
//
// Things are identified by their real paths, so two spellings of one folder are
// one. The content of lorebooks is not kept here: code that reads one keeps the
// digest that it needs, in a [Once] of its own, so that memory does not grow with
// the books.
//
// A [Library] sees each thing as it was when it was first asked for.
package library

import (
	"path/filepath"

	"stchat/internal/extension/luker"
	"stchat/internal/group"
	"stchat/internal/lorebook"
	"stchat/internal/names"
	"stchat/internal/userdir"
)

// Library holds what has been looked up so far. It is safe for use by several
// goroutines at once; its zero value is ready.
type Library struct {
	real      Once[string]
	folders   Once[*Folder]
	listings  Once[listing]
	groups    Once[read[*group.Set]]
	shelves   Once[read[*lorebook.Shelf]]
	books     Once[read[string]]
	databases Once[string]
}

// read is the result of looking something up.
type read[T any] struct {
	value T
	err   error
}

func (l *Library) realPath(path string) string {
	return l.real.Get(path, func() string { return userdir.RealPath(path) })
}

// In returns the groups of a user folder; it implements chat.Groups. Their paths
// begin with the spelling of the folder that was asked for first.
func (l *Library) In(dir userdir.Dir) (*group.Set, error) {
	r := l.groups.Get(l.realPath(dir.Root), func() read[*group.Set] {
		set, err := group.LoadAll(dir.Groups())
		return read[*group.Set]{set, err}
	})
	return r.value, r.err
}

// Book returns the path of the lorebook that a chat in the user folder calls
// name. The errors are those of [lorebook.Find].
func (l *Library) Book(dir userdir.Dir, name string) (path string, err error) {
	r := l.books.Get(l.realPath(dir.Root)+"\x00"+name, func() read[string] {
		path, err := lorebook.Find(dir.Worlds(), name)
		return read[string]{path, err}
	})
	if r.value == "" {
		return "", r.err
	}
	return filepath.Join(dir.Worlds(), filepath.Base(r.value)), r.err
}

// Shelf returns the names of the lorebooks in a worlds folder, to find free ones.
func (l *Library) Shelf(worlds string) (*lorebook.Shelf, error) {
	r := l.shelves.Get(l.realPath(worlds), func() read[*lorebook.Shelf] {
		shelf, err := lorebook.OpenShelf(worlds)
		return read[*lorebook.Shelf]{shelf, err}
	})
	return r.value, r.err
}

// Database returns why the files of a user folder are not what Luker reads, or ""
// if they are. See [luker.InDatabase].
func (l *Library) Database(dir userdir.Dir) string {
	return l.databases.Get(l.realPath(dir.Root), func() string { return luker.InDatabase(dir.Root) })
}

// Folder returns the folder at path. One that cannot be read has no names, and
// its Err says why.
func (l *Library) Folder(path string) *Folder {
	return l.folders.Get(path, func() *Folder {
		f := &Folder{Path: path}
		any := filepath.Join(path, "x"+names.Extension)
		f.Kind, f.Owner = userdir.KindOf(any)
		f.Dir, f.HasDir = userdir.Find(any)
		f.listing = l.listings.Get(l.realPath(path), func() listing { return list(path) })
		return f
	})
}
