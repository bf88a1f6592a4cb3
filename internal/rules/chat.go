package rules

import (
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// Chat is what remains of a chat that was read: what the rules across files
// need, and the findings so far.
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
	FirstLine  int            // the physical line of the first surviving line, else of the first damaged one; 0: blank
	Inside     int            // headers that are not the first line
	InsideAt   Span           // the first of these
	InsideLine int            // its physical line
	TornLine   int            // the last line that is not blank, where it is torn-tail; 0: it is not
	TornFrom   int            // the first of the lines that are not JSON up to that one
	Stamp      safefile.Stamp // the file as it was when it was opened
	Group      string         // the file of the group that should list the chat and does not, where it is known

	MainChat  string // the parent's name as it is written; empty: none
	Integrity string
	Lorebook  string // world_info
	AutoBook  string // auto_lorebooks.lorebookName
	FirstDate int64  // of the first message that has a readable one, in ms since 1970; 0: none
	Links     []Link // the first of them
	State     *State // where repair may need it; nil: it does not

	moreLinks bool // there are more than are kept

	recap    recap
	checked  bool // its findings are asked for; else it is only looked up
	whole    bool // it was read whole, not its head alone
	findings findings
	alone    findings // those of them that the chat tells by itself
	chain    uint64   // the rolling hash of all messages
}

// Span is a stretch of a file.
type Span struct{ Off, Len int64 }

// Findings returns what was found in the chat and in what lies beside it.
func (c *Chat) Findings() []Finding { return c.findings.all() }

// Mendable returns the rules of which repair can mend something in the chat, also
// where there is more of it than Findings lists.
func (c *Chat) Mendable() Set { return c.findings.mendable }

// LinkKind says what a link leads to.
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
	Index  int    // of the message it hangs on
	Line   int    // its physical line
	Column int    // where the message's extra begins
	chain  uint64 // the rolling hash of the messages up to this one

	from   *Chat  // the chat that has the link
	target string // the chat to which it leads
	found  bool   // whether there is one
}

// report adds a finding about the chat's file; line and column may be 0.
func (c *Chat) report(id ID, line, column int, message string) {
	c.add(Finding{Rule: id, Line: line, Column: column, Index: -1, Message: message})
}

// add adds a finding, if the chat's are asked for. Without a path it is about
// the chat's own file.
func (c *Chat) add(f Finding) {
	if !c.checked {
		return
	}
	if f.Path == "" {
		f.Path = c.Path
	}
	c.findings.add(f)
}

// ForeignRecap reports whether the chat has a running recap of another chat:
// it must be made its own before the chat loses its parent.
func (c *Chat) ForeignRecap() bool { return c.recap.versions > 0 && c.recap.chatID != c.Name }

// recap is what a header says of Auto-Recap's running recap (FORMATS.md B2).
type recap struct {
	chatID   string
	versions int
}
