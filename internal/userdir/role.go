package userdir

import (
	"path/filepath"
	"strings"
)

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
	at := absolute(path)
	for up := filepath.Dir(at); ; up = filepath.Dir(up) {
		if IsUserDir(up) && !IsPart(up) {
			rel, err := filepath.Rel(up, at)
			if err != nil {
				return Reserved
			}
			return roleIn(strings.Split(filepath.ToSlash(rel), "/"))
		}
		if up == filepath.Dir(up) {
			return Outside
		}
	}
}

// roleIn returns the role of a file by its path below a user's folder. Letter case makes no
// difference: on many disks it makes none.
func roleIn(parts []string) Role {
	first := strings.ToLower(parts[0])
	depth, isChat := len(parts), HasExtension(parts[len(parts)-1])
	switch {
	case depth == 1 && isRootFile(first), depth > 1 && isFolderOfUser(first):
		if isChat && (first == chatsFolder && depth == 3 || first == groupChatsFolder && depth == 2) {
			return ChatPlace
		}
		return Reserved
	}
	return Unread
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
