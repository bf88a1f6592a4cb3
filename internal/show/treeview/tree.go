// Package treeview draws families of chats: as text, for a pipe and as a page. It reads no files; [Tree] is also the JSON
// document of stchat tree (docs/json.md).
//
// The same tree always becomes the same bytes. Names and texts are strangers': they are
// made visible ([visible.Text]), cut, and escaped for the format they go into. None is
// ever part of an id, a link or a program.
package treeview

import (
	"bytes"
	"iter"
	"time"

	"stchat/internal/place/names"
)

// Schema is the version of the JSON documents.
const Schema = 1

// Tree is families of chats in the order in which they are shown.
type Tree struct {
	Owners  []*Owner
	Whole   bool // Texts are those of all own messages, and not cut
	Summary Summary
}

// Owner is a character's or a group's chats, or those of another folder.
type Owner struct {
	Name  string
	Chats []*Chat // as they are shown: every chat behind its parent
}

// Summary is what a tree adds up to. It is the last JSON document.
type Summary struct {
	Schema   int  `json:"schema"`
	Summary  bool `json:"summary"` // true
	Chats    int  `json:"chats"`
	Families int  `json:"families"` // with more than one chat
	Alone    int  `json:"alone"`    // chats without relatives
	Dangling int  `json:"dangling"` // chats that name a parent which is missing
	Cycles   int  `json:"cycles"`
}

// Chat is one chat in a tree. Pointers are null where there is nothing to tell.
type Chat struct {
	Schema int    `json:"schema"`
	Path   string `json:"path" is:"path"`
	Name   string `json:"name"`
	Owner  string `json:"owner"`
	Kind   string `json:"kind"` // solo, group or file
	Role   string `json:"role"` // root, checkpoint, branch or copy
	Family string `json:"family"`

	Parent   *string `json:"parent"`
	Via      *string `json:"via"`      // main_chat, link, uuid, name or content
	Dangling *string `json:"dangling"` // the parent that it names and that is missing
	At       *int    `json:"at"`
	AtParent *int    `json:"at_parent"`
	AtLink   *int    `json:"at_link"`
	Shared   *int    `json:"shared"`
	Edited   *int    `json:"edited"`
	Own      int     `json:"own"`

	Messages   int      `json:"messages"`
	Bytes      int64    `json:"bytes"`
	FirstDate  *string  `json:"first_date"`
	LastDate   *string  `json:"last_date"`
	Current    bool     `json:"current"` // it is open in its card or group
	Cycle      bool     `json:"cycle"`
	Unreadable bool     `json:"unreadable"`
	Children   []string `json:"children"`
	UUID       *string  `json:"uuid"`
	Integrity  *string  `json:"integrity"`
	Preview    Preview  `json:"preview"`

	Above *Chat     `json:"-"` // its parent, where that is shown
	Depth int       `json:"-"`
	Last  bool      `json:"-"` // no sibling follows
	First time.Time `json:"-"` // zero where there is no date
	Until time.Time `json:"-"`
	Said  string    `json:"-"` // its first own message as it is read, where a preview is wanted
	Dates []Date    `json:"-"` // some of its messages', in their order
	Texts []Message `json:"-"` // its own messages, or some, for the page
}

// chats iterates over the chats of all owners.
func (t *Tree) chats() iter.Seq[*Chat] {
	return func(yield func(c *Chat) bool) {
		for _, o := range t.Owners {
			for _, c := range o.Chats {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// computed reports whether the chat's parent was found by what both hold, not by a link.
func (c *Chat) computed() bool { return c.Via != nil && *c.Via == "content" }

// Shorts returns the names of all chats as they are shown below their owners', so that no two of an
// owner's look alike; they are not made visible.
func (t *Tree) Shorts() map[*Chat]string {
	short := map[*Chat]string{}
	for _, o := range t.Owners {
		list := make([]string, len(o.Chats))
		for i, c := range o.Chats {
			list[i] = c.Name
		}
		for i, name := range names.Shorts(o.Name, list, func(i int) []string { return o.Chats[i].above() }) {
			short[o.Chats[i]] = name
		}
	}
	return short
}

// above returns the names of a chat's ancestors, the nearest first.
func (c *Chat) above() (list []string) {
	const enough = 50
	for up := c.Above; up != nil && len(list) < enough; up = up.Above {
		list = append(list, up.Name)
	}
	return list
}

// Preview is text of a chat's own messages; null where there are none, and where
// none is wanted.
type Preview struct {
	Fork *string `json:"fork"` // the first own one
	Last *string `json:"last"` // the last one of all
}

// Date is when a message was sent.
type Date struct {
	Index int
	At    time.Time
}

// Message is what is shown of a message, and the page's data of it.
type Message struct {
	Index  int    `json:"i"`
	Role   string `json:"r"` // user, character or system
	Name   string `json:"n,omitempty"`
	Text   string `json:"t"`
	Said   string `json:"-"`           // the text as it is read; empty where nothing is left of it
	Swipe  int    `json:"k,omitempty"` // from 1; 0: it has none
	Swipes int    `json:"s,omitempty"`
}

// IsTree reports whether a file that begins with head is a tree that was written as JSON or a page.
func IsTree(head []byte) bool {
	begins := func(with string) bool { return bytes.HasPrefix(head, []byte(with)) }
	return begins(`{"schema":`) || begins("<!DOCTYPE html>\n") && bytes.Contains(head, []byte("script-src 'sha256-"))
}
