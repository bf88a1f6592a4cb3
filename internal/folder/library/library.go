// Package library looks up what surrounds chats, each thing once: what their
// folders contain, which group files a user folder has, where a lorebook is and
// which names are free for a new one, and whether Luker keeps it all in a
// database.
//
// Things are identified by their real paths, so two spellings of one folder are
// one.
//
// A [Library] sees each thing as it was when it was first asked for.
package library

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/lorebook"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/group"
)

// Library holds what has been looked up so far. It is safe for use by several
// goroutines at once; its zero value is ready.
type Library struct {
	real      Once[string]
	folders   Once[*Folder]
	listings  Once[listing]
	groups    Once[result[*group.Set]]
	shelves   Once[result[*lorebook.Shelf]]
	books     Once[result[string]]         // paths, by user folder and name
	opened    Once[result[*lorebook.Book]] // by path
	digests   Once[*Book]                  // likewise
	databases Once[string]
}

// result is what looking something up returned.
type result[T any] struct {
	value T
	err   error
}

func (l *Library) realPath(path string) string {
	return l.real.Get(path, func() string { return userdir.RealPath(path) })
}

// Groups returns the groups of a user folder; it implements chat.Groups. Their paths
// begin with the spelling of the folder that was asked for first.
func (l *Library) Groups(dir userdir.Dir) (*group.Set, error) {
	r := l.groups.Get(l.realPath(dir.Root), func() result[*group.Set] {
		set, err := group.LoadAll(dir.Groups())
		return result[*group.Set]{set, err}
	})
	return r.value, r.err
}

// Book returns the path of the lorebook that a chat in the user folder calls
// name. The errors are those of [lorebook.Find].
func (l *Library) Book(dir userdir.Dir, name string) (path string, err error) {
	r := l.books.Get(l.realPath(dir.Root)+"\x00"+name, func() result[string] {
		found, err := lorebook.Find(dir.Worlds(), name)
		return result[string]{found, err}
	})
	if r.value == "" {
		return "", r.err
	}
	return filepath.Join(dir.Worlds(), filepath.Base(r.value)), r.err
}

// ReadBook reads the lorebook that a chat in the user folder calls name. Besides the errors of
// [Library.Book] there are those of [lorebook.Open].
func (l *Library) ReadBook(dir userdir.Dir, name string) (*lorebook.Book, error) {
	path, err := l.Book(dir, name)
	if err != nil {
		return nil, err
	}
	r := l.opened.Get(path, func() result[*lorebook.Book] {
		book, err := lorebook.Open(path)
		return result[*lorebook.Book]{book, err}
	})
	return r.value, r.err
}

// Shelf returns the names of the lorebooks in a worlds folder, to find free ones.
func (l *Library) Shelf(worlds string) (*lorebook.Shelf, error) {
	r := l.shelves.Get(l.realPath(worlds), func() result[*lorebook.Shelf] {
		shelf, err := lorebook.OpenShelf(worlds)
		return result[*lorebook.Shelf]{shelf, err}
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
		anyChat := filepath.Join(path, "x"+names.Extension)
		f.Kind, f.Owner = userdir.KindOf(anyChat)
		f.Dir, f.HasDir = userdir.Find(anyChat)
		f.listing = l.listings.Get(l.realPath(path), func() listing { return list(path) })
		return f
	})
}

// Names holds the names of the chats in a folder.
type Names struct {
	Chats  []string // as given to [NamesOf]
	has    map[string]bool
	folded func() map[string]string // the chat for a folded name
}

// NamesOf returns a Names in which chats can be found.
func NamesOf(chats []string) Names {
	n := Names{Chats: chats, has: make(map[string]bool, len(chats))}
	for _, name := range chats {
		n.has[name] = true
	}
	n.folded = sync.OnceValue(func() map[string]string {
		folded := make(map[string]string, len(chats))
		for _, name := range slices.Backward(chats) {
			folded[names.Fold(name)] = name
		}
		return folded
	})
	return n
}

// Has reports whether a chat with exactly this name is among them.
func (n Names) Has(name string) bool { return n.has[name] }

// Target returns the chat that a name found in a file refers to: the one with that
// name, or with what SillyTavern's server makes of the name, or one that differs only
// in letter case, as in folders that come from Windows. ok is false if there is none.
func (n Names) Target(name string) (chat string, ok bool) {
	if n.has[name] {
		return name, true
	}
	safe, err := names.Sanitize(name)
	if err != nil {
		return "", false
	}
	if n.has[safe] {
		return safe, true
	}
	chat, ok = n.folded()[names.Fold(safe)]
	return chat, ok
}

// Once remembers a value for each key. The zero Once is ready, and safe for use
// by several goroutines at once: of those that ask for one key, one finds its
// value and the others wait for it; other keys are not held up.
type Once[V any] struct {
	mu     sync.Mutex
	values map[string]func() V
}

// Get returns the key's value, which find returns when the key is first asked
// for.
func (o *Once[V]) Get(key string, find func() V) V {
	o.mu.Lock()
	known := o.values[key]
	if known == nil {
		if o.values == nil {
			o.values = map[string]func() V{}
		}
		known = sync.OnceValue(find)
		o.values[key] = known
	}
	o.mu.Unlock()
	return known()
}

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
	entries, err := safefile.ReadDir(path)
	l.Err = err

	var chats []string
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		name := userdir.ChatName(e.Name())
		switch {
		case userdir.HasExtension(e.Name()) && name != "":
			chats = append(chats, name)
			delete(l.files, name) // the last of X.JSONL and X.jsonl counts
			if e.Name() != name+names.Extension {
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
