package userdir

import (
	"os"
	"path/filepath"
)

// The names of folders with copies, which are not walked unless they are named.
const (
	Own           = ".stchat" // stchat's, beside SillyTavern's folders
	backupsFolder = "backups" // SillyTavern's
)

// IsKept reports whether name is that of a folder with copies, SillyTavern's or
// stchat's.
func IsKept(name string) bool { return name == backupsFolder || name == Own }

// IsPart reports whether path has the name of a folder inside a user's folder.
// Such a folder is no user's folder, even if a character in it is called
// "worlds".
func IsPart(path string) bool {
	switch filepath.Base(path) {
	case chatsFolder, groupChatsFolder, groupsFolder, worldsFolder:
		return true
	}
	return false
}

// Users returns the folders of the users of the SillyTavern at root: those in
// its data folder. If root is no SillyTavern, there are none.
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

// UserAround returns the user's folder to use if none is named, as [Around] finds it from the
// working folder: that folder, or that of SillyTavern's only user, relative if [Near] can make
// it so. users is how many there are; unless it is 1, root is "".
func UserAround() (root string, users int) {
	around, ok := Around(".")
	if !ok {
		return "", 0
	}
	around = Near(around)
	switch list := Users(around); len(list) {
	case 0:
		return around, 1
	case 1:
		return list[0].Root, 1
	default:
		return "", len(list)
	}
}

// Around returns the folder to use if none is named and the working folder is
// folder: the nearest one, from there upwards, that is a user's or SillyTavern's
// own. It returns false if there is none.
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
