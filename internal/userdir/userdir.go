package userdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
// src/endpoints/chats.js). So "a.png b.png" has the folder "a b.png".
func CharacterFolder(card string) string { return strings.Replace(card, CardExtension, "", 1) }

// IsUserDir reports whether path is a folder with chats, group chats, groups or
// worlds in it. Links are followed.
func IsUserDir(path string) bool {
	for _, name := range [...]string{chatsFolder, groupChatsFolder, groupsFolder, worldsFolder} {
		if isDir(filepath.Join(path, name)) {
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

func isDir(path string) bool {
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

// Serves reports whether the file exists that an address in a chat refers to, such as
// "user/images/Mira/1.png". ours is false for what is not in the user folder: other
// sites, and SillyTavern's own pictures. An address that leads out of the folder refers
// to no file.
func (d Dir) Serves(address string) (exists, ours bool) {
	places, ours := served(address)
	for _, p := range places {
		if info, err := os.Stat(filepath.Join(d.Root, filepath.FromSlash(p))); err == nil && !info.IsDir() {
			return true, true
		}
	}
	return false, ours
}
