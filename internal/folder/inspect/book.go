package inspect

import (
	"stchat/internal/extension/all"
	"stchat/internal/folder/library"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// Book is what is known of a lorebook that is named itself. It is also the JSON document
// of inspect for it.
type Book struct {
	Schema    int        `json:"schema"`
	Path      string     `json:"path" is:"path"`
	Bytes     int64      `json:"bytes"`
	Lorebook  Lorebook   `json:"lorebook"`
	Chats     []BookChat `json:"chats"`      // that name it, in the order of their paths
	ChatTotal *int       `json:"chat_total"` // null where it lies in no user folder
}

// BookChat is a chat that names a lorebook.
type BookChat struct {
	Path  string  `json:"path" is:"path"`
	Name  string  `json:"name"`
	Owner *string `json:"owner"` // the character's folder, or the group's name
}

// BooksOf returns the paths of the lorebooks that an open chat of a user folder names, each once. Those that
// do not exist have none.
func BooksOf(around *library.Library, dir userdir.Dir, c *chat.Chat) []string {
	return bookPaths(around, dir, all.Table().Books(c.Metadata()))
}
