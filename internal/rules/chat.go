package rules

import (
	"stchat/internal/extension"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// Chat is the record of a chat that was read: what the rules across files need,
// and the findings so far.
type Chat struct {
	Path   string // as given or found
	Folder string // the folder it lies in
	Name   string // the file's name without .jsonl
	Kind   userdir.Kind
	Dir    userdir.Dir // the user folder
	HasDir bool

	Lines      int // surviving lines, the header among them
	Messages   int
	HasHeader  bool
	HeaderLine int            // the header's physical line, 0 without one
	FirstLine  int            // the physical line of the first surviving line, else of the first damaged one; 0: all are blank
	Inside     int            // headers that are not the first line
	InsideAt   Span           // the first of these
	InsideLine int            // its physical line
	TornLine   int            // the last line that is not blank, if it is torn-tail; else 0
	TornFrom   int            // where the run of lines that are not JSON up to that one begins
	Stamp      safefile.Stamp // the file as it was when it was opened
	Group      string         // the file of the group that should list the chat but does not, if known

	MainChat  string // the parent's name as it is written; empty: none
	Integrity string
	Lorebook  string   // world_info
	AutoBook  string   // auto_lorebooks.lorebookName
	Books     []string // all lorebooks that the metadata names, each once
	FirstDate int64    // of the first message that has a readable one, in ms since 1970; 0: none
	Links     []Link   // the first of them

	ForeignRecap bool                  // it has the running recap of another chat
	Extensions   []extension.Extension // that repair asks, as they judged; nil: it need not

	moreLinks bool // there are more than are kept

	checked  bool // its findings are asked for; else it is only looked up
	whole    bool // it was read whole, not only its head
	findings findings
	alone    findings // those that need no other file
	chain    uint64   // the rolling hash of all messages
}

// Span is a stretch of a file.
type Span struct{ Off, Len int64 }

// Findings returns what was found in the chat and in what lies beside it.
func (c *Chat) Findings() []Finding { return c.findings.all() }

// Mendable returns the rules of which repair can mend a finding in the chat, including
// findings beyond those that Findings lists.
func (c *Chat) Mendable() Set { return c.findings.mendable }

// LinkKind is what a link leads to.
type LinkKind uint8

// The kinds of links.
const (
	Checkpoint LinkKind = iota // extra.bookmark_link
	Branch                     // an element of extra.branches
)

// Link is a link from a message to a checkpoint or branch.
type Link struct {
	Kind   LinkKind
	Name   string // as it is written
	Index  int    // of the message that has it
	Line   int    // its physical line
	Column int    // where the message's extra begins
	chain  uint64 // the rolling hash of the messages up to this one

	from   *Chat  // the chat that has the link
	target string // the chat to which it leads
	found  bool   // whether that chat exists
}

// report adds a finding about the chat's file; line and column may be 0.
func (c *Chat) report(id ID, line, column int, message string) {
	c.add(Finding{Rule: id, Line: line, Column: column, Index: -1, Message: message})
}

// add adds a finding if the chat is checked. A finding without a path is about the
// chat's own file.
func (c *Chat) add(f Finding) {
	if !c.checked {
		return
	}
	if f.Path == "" {
		f.Path = c.Path
	}
	c.findings.add(f)
}
