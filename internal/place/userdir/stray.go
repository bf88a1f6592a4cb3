package userdir

import (
	"os"
	"path/filepath"
)

// StrayChats returns the files that are named like chats, in the folders of chats, where SillyTavern
// looks for none: directly in chats, and in folders inside a character's or inside "group chats". It
// follows no links below these and leaves out folders with copies. The files are sorted by folder; of a
// folder that cannot be read there are none.
func (d Dir) StrayChats() []string {
	// a chat lies so many folders below
	return append(strayChats(d.Chats(), 1), strayChats(d.GroupChats(), 0)...)
}

// strayChats returns the files named like chats in folder and below, but for those that lie as deep as
// chats do.
func strayChats(folder string, chatsBelow int) (list []string) {
	entries, _ := os.ReadDir(folder)
	var folders []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case e.IsDir() && !IsKept(e.Name()):
			folders = append(folders, path)
		case chatsBelow != 0 && e.Type().IsRegular() && HasExtension(e.Name()):
			list = append(list, path)
		}
	}

	for _, below := range folders {
		list = append(list, strayChats(below, chatsBelow-1)...)
	}
	return list
}

// AroundStray returns the user's folder in whose folders of chats a file lies that is one of
// [Dir.StrayChats] by its place, and false if there is none. The file need not exist.
func AroundStray(path string) (Dir, bool) {
	if _, isPlace := Find(path); isPlace {
		return Dir{}, false
	}
	for folder := filepath.Dir(absolute(path)); ; folder = filepath.Dir(folder) {
		above := filepath.Dir(folder)
		if above == folder {
			return Dir{}, false
		}
		isOfChats := isCalled(folder, chatsFolder) || isCalled(folder, groupChatsFolder)
		if isOfChats && hasOther(above, folder) {
			return Dir{Root: likePath(above, path)}, true
		}
	}
}

// hasOther reports whether a folder has one of a user's folders besides the one given: a folder that
// only happens to be called chats has none beside it.
func hasOther(root, folder string) bool {
	for _, name := range [...]string{chatsFolder, groupChatsFolder, groupsFolder, worldsFolder, charactersFolder} {
		if !isCalled(folder, name) && IsDir(filepath.Join(root, name)) {
			return true
		}
	}
	return false
}
