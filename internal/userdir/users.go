package userdir

import (
	"os"
	"path/filepath"
)

// The names of folders with copies that are not walked unless they are named.
const (
	Own           = ".stchat" // what stchat keeps, beside SillyTavern's folders
	backupsFolder = "backups" // what SillyTavern keeps
)

// IsKept reports whether a folder of this name is one of those.
func IsKept(name string) bool { return name == backupsFolder || name == Own }

// IsPart reports whether path has the name of a folder inside a user's folder:
// such a one is no user's folder, though a character in it be called "worlds".
func IsPart(path string) bool {
	switch filepath.Base(path) {
	case chatsFolder, groupChatsFolder, groupsFolder, worldsFolder:
		return true
	}
	return false
}

// InPart reports whether a file lies, at whatever depth, in a folder of a user's
// folder that holds chats, groups, lorebooks or characters.
func InPart(path string) bool {
	at, err := filepath.Abs(path)
	if err != nil {
		at = path
	}
	for up := filepath.Dir(at); up != at; at, up = up, filepath.Dir(up) {
		if (IsPart(up) || filepath.Base(up) == charactersFolder) && IsUserDir(filepath.Dir(up)) {
			return true
		}
	}
	return false
}

// Users returns the folders of the users of the SillyTavern at root: those in
// its data folder. A folder that is no SillyTavern has none.
func Users(root string) (users []Dir) {
	entries, err := os.ReadDir(filepath.Join(root, dataFolder))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if path := filepath.Join(root, dataFolder, e.Name()); IsUserDir(path) {
			users = append(users, Dir{Root: path})
		}
	}
	return users
}

// Around returns what is meant where somebody stands in folder and names
// nothing: the nearest folder, from there upwards, that is a user's or
// SillyTavern's own.
func Around(folder string) (string, bool) {
	at, err := filepath.Abs(folder)
	if err != nil {
		return "", false
	}
	for {
		if len(Users(at)) > 0 || IsUserDir(at) && !IsPart(at) {
			return at, true
		}
		up := filepath.Dir(at)
		if up == at {
			return "", false
		}
		at = up
	}
}
