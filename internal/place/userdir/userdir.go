// Package userdir knows where SillyTavern keeps things in a user's folder, the one
// under data/ that is named after the user's handle ("default-user"):
//
//	chats/<character>/<chat>.jsonl   solo chats
//	group chats/<chat>.jsonl         the chats of all groups
//	groups/<id>.json                 groups
//	worlds/<lorebook>.json           lorebooks
//
// (SillyTavern src/constants.js, USER_DIRECTORY_TEMPLATE.) It finds
// that folder from a chat's own path, determines what kind of chat a path leads to,
// and turns a name that some file mentions into a path. Such a name may be a
// stranger's: [Within] refuses any that could lead out of its folder.
//
// It looks at names and folders only and never opens a file.
package userdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// The names of the folders inside a user's folder.
const (
	dataFolder       = "data" // of SillyTavern, with a folder for each user
	chatsFolder      = "chats"
	groupChatsFolder = "group chats"
	groupsFolder     = "groups"
	worldsFolder     = "worlds"
	charactersFolder = "characters"
)

// Dir is a SillyTavern user's folder.
type Dir struct {
	// Root is the folder's path, relative if it was found from a relative path and
	// [Near] could make it so.
	Root string
}

// Chats returns the folder with one folder of solo chats for each character.
func (d Dir) Chats() string { return filepath.Join(d.Root, chatsFolder) }

// GroupChats returns the folder with the chats of all groups.
func (d Dir) GroupChats() string { return filepath.Join(d.Root, groupChatsFolder) }

// Groups returns the folder with the group files.
func (d Dir) Groups() string { return filepath.Join(d.Root, groupsFolder) }

// Characters returns the folder with the characters' cards.
func (d Dir) Characters() string { return filepath.Join(d.Root, charactersFolder) }

// Worlds returns the folder with the lorebooks.
func (d Dir) Worlds() string { return filepath.Join(d.Root, worldsFolder) }

// Backups returns the folder with SillyTavern's own copies of chats and settings.
func (d Dir) Backups() string { return filepath.Join(d.Root, backupsFolder) }

// CardExtension is the extension of a character's card that is a picture.
const CardExtension = ".png"

// CharacterFolder returns the name of the folder in chats/ of the character with a card of
// this file name: the name without the first ".png" in it, wherever that stands (SillyTavern
// src/endpoints/chats.js). So "a.png b.png" has the folder "a b.png". A card may also be a ".json".
func CharacterFolder(card string) string {
	if folder, ok := strings.CutSuffix(card, ".json"); ok {
		return folder
	}
	return strings.Replace(card, CardExtension, "", 1)
}

// IsUserDir reports whether path is a folder with chats, group chats, groups or
// worlds in it. Links are followed.
func IsUserDir(path string) bool {
	for _, name := range [...]string{chatsFolder, groupChatsFolder, groupsFolder, worldsFolder} {
		if IsDir(filepath.Join(path, name)) {
			return true
		}
	}
	return false
}

// Open returns root as the user's folder. It is an error if root is none by
// [IsUserDir]; if the folder meant is in a usual place below, the error names it.
func Open(root string) (Dir, error) {
	if IsUserDir(root) {
		return Dir{Root: root}, nil
	}
	info, err := os.Stat(root)
	switch {
	case err != nil:
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathErr.Err
		}
		return Dir{}, fmt.Errorf("%s: %w", root, err)
	case !info.IsDir():
		return Dir{}, fmt.Errorf("%s: not a folder", root)
	}

	for _, below := range [...]string{"default-user", filepath.Join(dataFolder, "default-user")} {
		if path := filepath.Join(root, below); IsUserDir(path) {
			return Dir{}, fmt.Errorf("%s: not a SillyTavern user folder; did you mean %s?", root, path)
		}
	}
	return Dir{}, fmt.Errorf("%s: not a SillyTavern user folder: it has no chats, groups or worlds", root)
}

// IsDir reports whether a path is that of a folder, also by a link.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Folders returns the folders in which the files of a user's chats lie: those of group
// chats, groups, lorebooks and characters, and each character's in chats. Those outside
// chats need not exist.
func (d Dir) Folders() []string {
	folders := []string{d.GroupChats(), d.Groups(), d.Worlds(), filepath.Join(d.Root, charactersFolder)}
	entries, err := os.ReadDir(d.Chats())
	if err != nil {
		return folders
	}
	for _, e := range entries {
		if e.IsDir() || e.Type() == fs.ModeSymlink {
			folders = append(folders, filepath.Join(d.Chats(), e.Name()))
		}
	}
	return folders
}

// Attachments returns the folders in which files lie that chats and cards name: pictures, other
// files, backgrounds and avatars.
func (d Dir) Attachments() []string {
	user := filepath.Join(d.Root, "user")
	folders := []string{filepath.Join(user, "files"), filepath.Join(d.Root, "backgrounds"), filepath.Join(d.Root, "User Avatars")}
	images := filepath.Join(user, "images")
	entries, _ := os.ReadDir(images) // without it there are none
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, filepath.Join(images, e.Name()))
		}
	}
	return append(folders, images)
}

// Serves reports whether the file exists that an address in a chat refers to, such as
// "user/images/Mira/1.png". ours is false for what is not in the user folder: other
// sites, and SillyTavern's own pictures. An address that leads out of the folder refers
// to no file.
func (d Dir) Serves(address string) (exists, ours bool) {
	_, exists, ours = d.Served(address)
	return exists, ours
}

// Served is [Dir.Serves], and returns where the file is in the user folder, with slashes.
func (d Dir) Served(address string) (place string, exists, ours bool) {
	places, ours := served(address)
	for _, p := range places {
		if info, err := os.Stat(filepath.Join(d.Root, filepath.FromSlash(p))); err == nil && !info.IsDir() {
			return path.Clean(p), true, true
		}
	}
	return "", false, ours
}

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

// IsChats reports whether path has the name of the folder that holds those of characters.
func IsChats(path string) bool { return filepath.Base(path) == chatsFolder }

// Users returns the folders of the users of the SillyTavern at root: those in
// its data folder. If root is no SillyTavern, there are none.
func Users(root string) (users []Dir) { return UsersBelow(filepath.Join(root, dataFolder)) }

// UsersBelow returns the user folders that lie in a folder.
func UsersBelow(data string) (users []Dir) {
	entries, err := os.ReadDir(data)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if path := filepath.Join(data, e.Name()); IsUserDir(path) {
			users = append(users, Dir{Root: path})
		}
	}
	return users
}

// UsersIn returns the folders of the users whose data lie in a folder: that of a SillyTavern, or the data
// folder in it.
func UsersIn(folder string) (users []Dir) {
	full, err := filepath.Abs(folder)
	if err != nil || filepath.Base(full) != dataFolder {
		return Users(folder)
	}
	return UsersBelow(folder)
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

// Role is what a file is to SillyTavern by its place alone.
type Role int

// The roles of a file.
const (
	Outside   Role = iota // in no user's folder
	Unread                // in a user's folder, where nobody reads it
	ChatPlace             // where SillyTavern reads a chat
	Reserved              // where SillyTavern reads something else, or stchat keeps its own
)

// RoleOf returns the role of a file at path, whether it exists or not.
func RoleOf(path string) Role {
	root, ok := Above(path)
	if !ok {
		return Outside
	}
	rel, err := filepath.Rel(root, absolute(path))
	if err != nil {
		return Reserved
	}
	return roleIn(strings.Split(filepath.ToSlash(rel), "/"))
}

// Above returns the user's folder in which a file lies at any depth, whether it exists or not.
func Above(path string) (root string, ok bool) {
	for up := filepath.Dir(absolute(path)); ; up = filepath.Dir(up) {
		if IsUserDir(up) && !IsPart(up) {
			return up, true
		}
		if up == filepath.Dir(up) {
			return "", false
		}
	}
}

// roleIn returns the role of a file by its path below a user's folder. Letter case makes no
// difference: on many disks it makes none.
func roleIn(parts []string) Role {
	first := strings.ToLower(parts[0])
	depth := len(parts)
	known := depth == 1 && isRootFile(first) || depth > 1 && isFolderOfUser(first)
	if !known {
		return Unread
	}

	isOfCharacter := first == chatsFolder && depth == 3
	isOfGroup := first == groupChatsFolder && depth == 2
	if (isOfCharacter || isOfGroup) && HasExtension(parts[depth-1]) {
		return ChatPlace
	}
	return Reserved
}

// isRootFile reports whether SillyTavern keeps a file of this name in a user's folder.
func isRootFile(name string) bool {
	switch name {
	case "settings.json", "secrets.json", "stats.json", "image-metadata.json", "content.log":
		return true
	}
	return false
}

// isFolderOfUser reports whether SillyTavern (USER_DIRECTORY_TEMPLATE in src/constants.js) or
// stchat keeps a folder of this name, in lower case, in a user's folder.
func isFolderOfUser(name string) bool {
	switch name {
	case chatsFolder, groupChatsFolder, groupsFolder, worldsFolder, charactersFolder, backupsFolder, Own,
		"thumbnails", "user", "user avatars", "backgrounds", "themes", "movingui", "extensions", "instruct", "context", "sysprompt", "reasoning",
		"quickreplies", "assets", "vectors", "novelai settings", "koboldai settings", "openai settings", "textgen settings":
		return true
	}
	return false
}
