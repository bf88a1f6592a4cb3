package family

import (
	"stchat/internal/names"
)

// Reference is one place in a file that names a chat.
type Reference struct {
	Path  string
	From  *Chat // nil: a group file or a card
	Index int   // of the message; Header; NoLine
	Kind  Kind
	Name  string // as it is written there
}

// Places that are no message.
const (
	Header = -1
	NoLine = -2 // of a group file or a card
)

// Kind says what a reference is.
type Kind uint8

// The kinds of references.
const (
	Parent      Kind = iota // chat_metadata.main_chat
	Checkpoint              // extra.bookmark_link, also of a swipe that is not chosen
	Branch                  // an element of extra.branches, the same
	Recap                   // the chat's own Auto-Recap data
	Listed                  // the chats of a group
	Open                    // the chat that is open in a group, or in a character's card
	OldMetadata             // metadata that a group keeps in the layout up to 1.14
)

// Key returns the name of what a reference of this kind stands in.
func (k Kind) Key() string {
	return [...]string{"main_chat", "bookmark_link", "branches", "chat_id of Auto-Recap", "chats", "chat", "past_metadata"}[k]
}

// safeName returns the name as SillyTavern's server makes it safe; a name of which nothing
// would be left stays.
func safeName(name string) string {
	if safe, err := names.Sanitize(name); err == nil {
		return safe
	}
	return name
}
