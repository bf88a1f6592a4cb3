package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/group"
	"stchat/internal/sillytavern/reline"
)

// Finding is one problem in one place.
type Finding struct {
	Rule     ID
	Severity Severity
	Path     string // the chat, group file, lorebook or sidecar; as given or found
	Line     int    // physical line, from 1; 0: the file as a whole
	Column   int    // byte in the line, from 1; 0: the line as a whole
	Index    int    // the message's index; below 0: no message
	Message  string // what is wrong here; without line numbers, so that a baseline recognizes it
	More     int    // number of unlisted findings that it stands for; 0: it is a finding itself
	effect   string // overrides the rule's
	repair   string // overrides the rule's: only a person can repair this finding
}

// Count returns the number of findings that it stands for, at least 1.
func (f *Finding) Count() int { return max(1, f.More) }

// Text returns the message, after the number of findings if it stands for several.
func (f *Finding) Text() string {
	if f.More > 0 {
		return fmt.Sprintf("%d %s", f.More, f.Message)
	}
	return f.Message
}

// Effect returns what SillyTavern or an extension does because of it.
func (f *Finding) Effect() string { return cmp.Or(f.effect, f.Rule.Rule().Effect) }

// Repair returns how to put it right, by repair or by hand.
func (f *Finding) Repair() string { return cmp.Or(f.repair, f.Rule.Rule().Repair) }

// ByHand reports whether repair leaves the finding to a person, even if it deals with
// others of its rule.
func (f *Finding) ByHand() bool { return f.repair != "" || f.Rule.Rule().Repairing == ByHand }

// perRule is the number of findings of one rule and severity that are kept for one file.
// The rest are only counted, so that memory does not grow with the damage.
const perRule = 100

const more = "more of the same are not listed"

// findings collects the findings of one file.
type findings struct {
	list       []Finding
	counts     map[kind]int
	repairable Set    // rules of which repair can put a finding right, listed or not
	byHand     string // how a person repairs all of them; empty: each has its own way
}

// has reports whether there are findings of one of the rules.
func (fs *findings) has(ids ...ID) bool {
	of := SetOf(ids...)
	for k := range fs.counts {
		if of.Has(k.rule) {
			return true
		}
	}
	return false
}

// clone returns a copy to which findings can be added.
func (fs *findings) clone() findings {
	c := *fs
	c.list = slices.Clip(c.list)
	c.counts = maps.Clone(c.counts)
	return c
}

// kind is the key by which findings are counted.
type kind struct {
	rule     ID
	severity Severity
}

func (fs *findings) count(k kind, n int) {
	if fs.counts == nil {
		fs.counts = map[kind]int{}
	}
	fs.counts[k] += n
}

// add counts the finding, and keeps it unless there are too many of its kind. A
// finding without a severity gets its rule's.
func (fs *findings) add(f Finding) {
	if f.Severity == 0 {
		f.Severity = f.Rule.Rule().Severity
	}
	if fs.byHand != "" {
		f.repair = fs.byHand
	}
	if !f.ByHand() {
		fs.repairable = fs.repairable.With(SetOf(f.Rule))
	}
	k := kind{f.Rule, f.Severity}
	fs.count(k, 1)
	if fs.counts[k] <= perRule {
		fs.list = append(fs.list, f)
	}
}

// all returns the kept findings, and for each kind that has more, one that stands for
// the rest.
func (fs *findings) all() []Finding {
	list := slices.Clip(fs.list)
	told := map[kind]bool{}
	for _, f := range fs.list {
		k := kind{f.Rule, f.Severity}
		if n := fs.counts[k]; n > perRule && !told[k] {
			told[k] = true
			list = append(list, Finding{Rule: f.Rule, Severity: f.Severity, Path: f.Path, Index: -1, Message: more, More: n - perRule, repair: fs.byHand})
		}
	}
	return list
}

// leave leaves all findings to a person; repair says how to repair them.
func (fs *findings) leave(repair string) {
	fs.repairable = Set{}
	fs.byHand = repair
	for i := range fs.list {
		fs.list[i].repair = repair
	}
}

// Sort sorts findings by the order of their paths, then by line: those about the whole
// file come first, and those that stand for several last.
func Sort(list []Finding, order map[string]int) {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(order[a.Path], order[b.Path]),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(min(a.More, 1), min(b.More, 1)),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Column, b.Column),
		)
	})
}

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
	HeaderLine int             // the header's physical line, 0 without one
	FirstLine  int             // the physical line of the first surviving line, else of the first damaged one; 0: all are blank
	Inside     int             // headers that are not the first line
	InsideAt   Span            // the first of these
	InsideLine int             // its physical line
	TornLine   int             // the last line that is not blank, if it is torn-tail; else 0
	TornFrom   int             // where the run of lines that are not JSON up to that one begins
	Stamp      safefile.Stamp  // the file as it was when it was opened
	Reading    *reline.Reading // how the file is read as lines; nil: it is lines. All lines and offsets are those of the reading
	Group      *group.File     // the group that should list the chat but does not, if known

	// NothingLeft is true if there is damage and no message: without the damage the chat is empty.
	NothingLeft bool

	MainChat  string // the parent's name as it is written; empty: none
	Integrity string
	Lorebook  string   // world_info
	AutoBook  string   // auto_lorebooks.lorebookName
	Books     []string // all lorebooks that the metadata names, each once
	FirstDate int64    // of the first message that has a readable one, in ms since 1970; 0: none
	Links     []Link   // the first of them

	BesideErr    error                 // why Luker's files beside it are not known
	ForeignRecap bool                  // it has the running recap of another chat
	Extensions   []extension.Extension // that repair asks, as they judged; nil: it need not

	moreLinks   bool // there are more than are kept
	inGroupFile bool // a group file holds its metadata, as up to SillyTavern 1.14, since it has no header

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

// Repairable returns the rules of which repair can put a finding right in the chat, including
// findings beyond those that Findings lists.
func (c *Chat) Repairable() Set { return c.findings.repairable }

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
	Column int    // where the message's extra or swipe_info begins
	Swipe  bool   // not the message itself has it, but one of its swipes: it is out of sight
	chain  uint64 // the rolling hash of the messages up to this one

	from   *Chat  // the chat that has the link
	target string // the chat to which it leads
	found  bool   // whether that chat exists
}

// report adds a finding about the chat's file; line and column may be 0.
func (c *Chat) report(id ID, line, column int, message string) {
	c.add(Finding{Rule: id, Line: line, Column: column, Index: -1, Message: message})
}

// reportHead adds a finding about the chat's metadata.
func (c *Chat) reportHead(id ID, message string) {
	c.addHead(Finding{Rule: id, Index: noMessage, Message: message})
}

// addHead adds a finding about the chat's metadata: in the header's line or, if a group file holds
// them, in no line. There repair corrects nothing before the chat has them.
func (c *Chat) addHead(f Finding) {
	f.Line = c.HeaderLine
	if c.inGroupFile && f.repair == "" && f.Rule.editsHead() {
		f.repair = "let repair move the metadata from the group file into a header first (group-old-layout), and then repair this"
	}
	c.add(f)
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
	if f.Path == c.Path && f.Line > 0 {
		var same bool
		if f.Line, same = c.Reading.Place(f.Line); !same {
			f.Column = 0
		}
	}

	c.findings.add(f)
}

// Change is one thing that repair changes by a rule, and what it takes out for that.
type Change struct {
	Rule ID
	Text string
	What string // what Lost is
	Lost []byte // goes to the .damaged file; nil: nothing
}
