package family

import (
	"slices"
	"strings"

	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
)

// Chat is a chat with what its kinship is judged by, and the result.
type Chat struct {
	Path  string
	Name  string
	Stamp safefile.Stamp
	Bytes int64
	Err   error // why the file cannot be read; nothing below is known then

	// Groups are the files of the groups that list a group chat, as paths.
	Groups []string

	MainChat   string // as it is written; empty: none
	UUID       string // of ChatBranches, and its parent's
	ParentUUID string
	Integrity  string
	Recap      string // the chat that Auto-Recap's data belongs to: this one, if any of it does
	FirstDate  int64  // the first that can be read, in ms since 1970; 0: none
	Links      []Link
	Messages   []Message
	Damaged    int // lines

	Kin

	n          int // place among the chats
	first, end int // see number
}

// Message is what is kept of a message.
type Message struct {
	ID   message.ID
	Date int64 // in ms since 1970; 0: none that can be read
	Off  int64 // where its line begins in the file
}

// Link is a name of a checkpoint or branch on a message.
type Link struct {
	Kind  Kind // Checkpoint or Branch
	Name  string
	Index int
}

// Reason is the evidence that leads from a chat to its parent.
type Reason string

// The evidence for a parent, the strongest first.
const (
	ByMainChat Reason = "main_chat"
	ByLink     Reason = "link"
	ByUUID     Reason = "uuid"
	ByName     Reason = "name"
	ByContent  Reason = "content"
)

// Role is what a chat is in its family.
type Role string

// The roles.
const (
	Root           Role = "root"
	CheckpointRole Role = "checkpoint"
	BranchRole     Role = "branch"
	Copy           Role = "copy" // it has nothing of its own, and nothing names it
)

// Kin is the result of judging a chat. It is filled in by [New].
type Kin struct {
	Parent   *Chat
	Via      Reason
	Named    *Chat   // the chat to which main_chat leads, also in a circle
	Dangling string  // the name in main_chat that leads nowhere
	Children []*Chat // by Point.At, then by the date of their first own message
	Role     Role
	Cycle    bool // its parent was cut off, since it is one of its own descendants
	Point
	AtLink int // the parent's message that links to this chat; -1: none
}

// Point is where a chat parts from its parent.
type Point struct {
	At       int // the chat's last message that the parent has too; -1: none
	AtParent int // the index of that message in the parent
	Shared   int // how many of the messages 0 to At the parent has
}

// Edited returns how many messages up to the point the parent does not have.
func (p Point) Edited() int { return p.At + 1 - p.Shared }

// Own returns how many messages the chat has after the point.
func (c *Chat) Own() int {
	if c.Parent == nil {
		return len(c.Messages)
	}
	return len(c.Messages) - 1 - c.At
}

// LastDate returns the last readable date of the chat's messages, 0 without one.
func (c *Chat) LastDate() int64 {
	for _, v := range slices.Backward(c.Messages) {
		if d := v.Date; d != 0 {
			return d
		}
	}
	return 0
}

func firstDate(list []Message) int64 {
	for i := range list {
		if list[i].Date != 0 {
			return list[i].Date
		}
	}
	return 0
}

// ownDate returns the date of the first own message that has one.
func (c *Chat) ownDate() int64 { return firstDate(c.Messages[len(c.Messages)-c.Own():]) }

// inherited reports whether the message before a depth is not the chat's own but that
// of a parent it declares.
func (c *Chat) inherited(depth int) bool {
	return c.Parent != nil && c.Via != ByContent && c.At >= depth-1
}

// head fills in what the header says.
func (c *Chat) head(from *chat.Chat) {
	md := from.Metadata()
	text := func(key string) string {
		s, _ := rawjson.Unquote(md.Value(key))
		return s
	}
	c.MainChat = text("main_chat")
	c.UUID = text("uuid")
	c.ParentUUID = text("parent_uuid")
	c.Integrity = text("integrity")

	all.Table().Rename(md, extension.Metadata, extension.OwnChat, func(row extension.Row, name string) string {
		if row.IsKey() && name != c.Name {
			return name // of the chat that this one was made from
		}
		if c.Recap == "" || name == c.Name {
			c.Recap = name
		}
		return name
	})
}

// sameOwner reports whether names in one chat mean the other: group chats of
// different groups lie in one folder. One that no group lists may belong to any.
func sameOwner(a, b *Chat) bool {
	if len(a.Groups) == 0 || len(b.Groups) == 0 {
		return true
	}
	return slices.ContainsFunc(a.Groups, func(g string) bool { return slices.Contains(b.Groups, g) })
}

const checkpointMark = "Checkpoint #"

// ParentInName returns what stands before the last "Checkpoint #" of a name, as
// getMainChatName in SillyTavern's bookmarks.js takes it for the parent.
func ParentInName(name string) string {
	at := strings.LastIndex(name, checkpointMark)
	if at < 0 {
		return ""
	}
	return strings.TrimSpace(name[:at])
}

// endsAsCheckpoint reports whether a name ends as those that are generated for
// checkpoints do: "… Checkpoint #3", up to 1.15 "Checkpoint #3 - <time>".
func endsAsCheckpoint(name string) bool {
	at := strings.LastIndex(name, checkpointMark)
	if at < 0 {
		return false
	}
	rest := strings.TrimLeft(name[at+len(checkpointMark):], "0123456789")
	isTime := strings.HasPrefix(rest, " - 20") && strings.Contains(rest, "@")
	return rest == "" || isTime
}
