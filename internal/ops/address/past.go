package address

import (
	"cmp"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/place/names"
)

// Chat is a chat of an owner.
type Chat struct {
	Name string
	Path string
	Gone bool // it has no file, and is known from the past
}

// Chats returns the chats of an owner: those that are there, then those that the past knows besides.
// Of an owner who is gone these are all.
func (f *Finder) Chats(owner string) (list []Chat) {
	o, _, _, err := f.Split(owner)
	if err != nil {
		o = nil
	}
	seen := map[string]bool{}
	if o != nil {
		for _, name := range o.Names(f.Lib) {
			seen[name] = true
			list = append(list, Chat{Name: name, Path: f.Lib.Folder(o.Folder).File(name)})
		}
	}

	if f.Past == nil {
		return list
	}

	for _, folder := range f.folders(owner, o) {
		for _, name := range f.pastOf(o, folder) {
			if seen[name] {
				continue
			}
			seen[name] = true
			list = append(list, Chat{Name: name, Path: f.file(folder, name), Gone: true})
		}
	}
	return list
}

// Places returns the paths that a chat named as OWNER/NAME may have or may have had, whether or not
// anything was ever there. There are none for what is not of that shape.
func (f *Finder) Places(arg string) (paths []string) {
	w := f.wanted(arg)
	for _, folder := range w.folders {
		paths = append(paths, f.file(folder, w.name))
	}
	return paths
}

// wanted is a chat that is named as OWNER/NAME, and may be gone.
type wanted struct {
	of      *Owner // nil: nobody is called so now
	owner   string
	name    string
	whole   bool     // it is named with the extension of its file, so a part of a name is not meant
	folders []string // where it may be or may have been, as Past names them
}

// wanted reads OWNER/NAME. It has no folders if the argument is not of that shape.
func (f *Finder) wanted(arg string) wanted {
	stem, whole := strings.CutSuffix(arg, names.Extension)
	o, owner, name, err := f.Split(stem)
	if err != nil {
		o = nil // several are called so, and the name of a folder may tell which is meant
	}
	w := wanted{of: o, owner: owner, name: name, whole: whole}
	if name != "" && !strings.Contains(name, "/") {
		w.folders = f.folders(owner, o)
	}
	return w
}

// folders returns where the chats of an owner may be or may have been: in the folder of a character of
// that name, in one of loose chats, and where the owner has them now.
func (f *Finder) folders(owner string, o *Owner) []string {
	list := []string{path.Join("chats", owner), owner}
	if o == nil {
		return list
	}
	home := f.home(o)
	if slices.Contains(list, home) {
		return list
	}
	return append(list, home)
}

// home returns the folder of an owner's chats as Past names it.
func (f *Finder) home(o *Owner) string {
	rel, err := filepath.Rel(f.base(), o.Folder)
	if err != nil {
		return filepath.ToSlash(o.Folder) // which no history has
	}
	return filepath.ToSlash(rel)
}

// base returns the folder that Past names others in: the user folder, or that of loose chats.
func (f *Finder) base() string { return cmp.Or(f.Root(), f.Data) }

// pastOf returns the names of an owner's chats that were in a folder once. One that is named whole may also
// be in the folder of all groups without being of this one.
func (f *Finder) pastOf(o *Owner, folder string) []string {
	isOfGroups := o != nil && o.Group != nil && folder == f.home(o)
	if isOfGroups && f.PastOf != nil {
		return f.PastOf(o.Group.Path)
	}
	return f.Past(folder)
}

// file returns the path of a chat in a folder that is named as Past does.
func (f *Finder) file(folder, name string) string {
	return filepath.Join(f.base(), filepath.FromSlash(folder), name+names.Extension)
}

// findEver is [Finder.Find] among what is there and what was. A whole name comes before a part of one,
// and what is there before what is gone.
func (f *Finder) findEver(arg string) (Found, error) {
	w := f.wanted(arg)
	if found, ok := f.findWhole(w); ok {
		return found, nil
	}

	found, err := f.findPresent(arg)
	found.Of = w.of
	found.Name = w.name
	none, isNone := errors.AsType[*NoneError](err)
	if err != nil && !isNone || len(found.Paths) > 0 {
		return found, err
	}

	gone, goneErr := f.findGone(arg, w)
	if goneErr != nil || len(gone.Paths) > 0 {
		return gone, goneErr
	}
	if isNone {
		for _, folder := range w.folders {
			for _, name := range f.pastOf(w.of, folder) {
				none.Known = append(none.Known, w.owner+"/"+name)
			}
		}
	}
	return found, err
}

// findWhole finds a chat by its whole name: one that is there, else one that is gone. A group may have
// lost a chat that is in its folder and not in its list.
func (f *Finder) findWhole(w wanted) (found Found, ok bool) {
	found = Found{Of: w.of, Name: w.name}
	for _, folder := range w.folders {
		if f.has(w, folder) {
			found.Paths = []string{f.file(folder, w.name)}
			return found, true
		}
	}

	for _, folder := range w.folders {
		file := f.file(folder, w.name)
		isThere := isFile(file)
		if isThere || slices.Contains(f.Past(folder), w.name) {
			found.Paths = []string{file}
			found.Gone = !isThere
			return found, true
		}
	}
	return found, false
}

// has reports whether a chat is in a folder now, and is the owner's if that is the one of all groups.
func (f *Finder) has(w wanted, folder string) bool {
	if !isFile(f.file(folder, w.name)) {
		return false
	}
	ofGroups := w.of != nil && w.of.Group != nil && folder == f.home(w.of)
	return !ofGroups || slices.Contains(w.of.Names(f.Lib), w.name)
}

// findGone finds a chat that is gone by what fits its name. The error wraps [ErrSeveral] or [ErrWhole].
func (f *Finder) findGone(arg string, w wanted) (Found, error) {
	found := Found{Of: w.of, Name: w.name}
	for _, folder := range w.folders {
		fits, part := Match(f.pastOf(w.of, folder), w.name)
		if len(fits) == 0 || part && w.whole {
			continue
		}
		if part && f.Whole {
			return found, f.partError(arg, several(w.owner, fits))
		}
		if len(fits) > 1 {
			found.Gone = true
			return found, &severalError{arg, "chat", w.owner, fits}
		}
		file := f.file(folder, fits[0])
		found.Paths = []string{file}
		found.Gone = !isFile(file)
		found.Guess = part
		return found, nil
	}
	return found, nil
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}
