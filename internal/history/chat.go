package history

import (
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Kind is the kind of file that an identity stands for.
type Kind string

// The kinds of file.
const (
	Solo    Kind = "solo"    // a chat of a character
	Group   Kind = "group"   // a chat of a group
	File    Kind = "file"    // a chat in any other folder
	Backup  Kind = "backup"  // a SillyTavern backup whose chat is unknown
	Sidecar Kind = "sidecar" // of Luker, beside a chat
	Members Kind = "groups"  // a group's file
	World   Kind = "world"   // a lorebook
	Card    Kind = "card"    // a character
)

// IsChat reports whether files of this kind are chats.
func (k Kind) IsChat() bool { return k == Solo || k == Group || k == File || k == Backup }

// Chat is a file with versions: a chat, or one of the files around chats. A chat keeps its
// identity when its file is renamed or moved.
type Chat struct {
	ID     int64
	Kind   Kind
	Owner  string // the folder, relative to the user's, with slashes
	Name   string // of a chat without .jsonl, else complete
	Slug   string // chat_metadata.integrity of the last version
	Parent int64  // the ID of the chat that this one was made from; 0 if unknown
	GoneAt time.Time
}

// Path returns where the file is or was, relative to the user's folder, with slashes.
func (c *Chat) Path() string {
	name := c.Name
	if c.Kind.IsChat() && c.Kind != Backup && !oddExtension(name) {
		name += ".jsonl"
	}
	return path.Join(c.Owner, name)
}

// inside reports whether the path stays below the user's folder. Only such files are ever
// taken in.
func (c *Chat) inside() bool {
	rel := strings.ReplaceAll(filepath.FromSlash(c.Path()), ":", "_") // IsLocal refuses them on Windows
	return filepath.IsLocal(rel) && !strings.ContainsAny(c.Name, "/"+string(filepath.Separator))
}

// Label names a chat for people: its folder's name and its own.
func (c *Chat) Label() string {
	if c.Owner == "" || c.Kind == Backup {
		return c.Name
	}
	return path.Base(c.Owner) + "/" + c.Name
}

// Place returns the kind of the file at rel, a path relative to a user's folder, with
// slashes, and the Owner and Name of its identity.
func Place(rel string) (kind Kind, owner, name string) {
	owner, name = path.Split(rel)
	owner = strings.TrimSuffix(owner, "/")
	parts := strings.Split(owner, "/")
	switch {
	case !strings.EqualFold(path.Ext(name), ".jsonl"):
		switch parts[0] {
		case "groups":
			return Members, owner, name
		case "worlds":
			return World, owner, name
		case "characters":
			return Card, owner, name
		}
		return Sidecar, owner, name
	case len(parts) == 2 && parts[0] == "chats":
		kind = Solo
	case owner == "group chats":
		kind = Group
	default:
		kind = File
	}
	return kind, owner, strings.TrimSuffix(name, ".jsonl")
}

// oddExtension reports whether a chat's name keeps its extension because it is spelled
// unusually, such as .JSONL.
func oddExtension(name string) bool {
	ext := path.Ext(name)
	return ext != ".jsonl" && strings.EqualFold(ext, ".jsonl")
}

// Gone reports whether the last snapshot did not find the file.
func (c *Chat) Gone() bool { return !c.GoneAt.IsZero() }
