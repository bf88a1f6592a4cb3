// Package convert reads chats of other programs: what their exports hold as messages with
// speakers, dates and alternatives. [Scan] finds the conversations in a file one after the
// other, so that memory follows the longest; [Read] reads one. It writes nothing.
//
// The comment on a format says where its shape was read.
package convert

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"stchat/internal/jsonl"
)

// Role is who a message is by.
type Role int

// The roles.
const (
	Character Role = iota
	User
	Narrator
)

// Message is one message. What the source does not say is zero.
type Message struct {
	Role      Role
	Name      string // the speaker's
	Text      string
	Date      time.Time
	Hidden    bool
	Model     string
	Reasoning string

	Swipes []Message // all versions of it, the oldest first; nil if there is only this one
	Swipe  int       // which of them it is, from 0

	Line []byte // the whole line where it is one of SillyTavern's already
}

// Conversation is one chat of another program.
type Conversation struct {
	Format    string
	ID        string // the source's own; "" if it has none
	Title     string
	User      string // their names, "" if the source has none
	Character string
	Greeting  int // which greeting the chat began with: 0 the first, then the alternate ones; below 0: not known
	Messages  []Message
	Branches  []Branch // the other leaves of a tree
	Dropped   []Dropped
	Damage    *jsonl.Damage // the first line that cannot be read, of a source of lines; the others are
	Notes     []string
	Warnings  []string // what may have been understood wrongly
	Strangers []Stranger

	unknown int // messages of which nobody knows who wrote them
}

// Stranger is a name at the beginning of lines of a text, as if somebody spoke, who is neither the user nor a
// character. The lines are no messages of their own.
type Stranger struct {
	Name  string
	Lines int
}

// Branch is a way through a tree of messages to another leaf.
type Branch struct {
	At       int // the last of the conversation's messages that it shares; -1: none
	Messages func() []Message
}

// Dropped is what is left out of a conversation.
type Dropped struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// DamagedLines is what is counted of lines that cannot be read.
const DamagedLines = "damaged lines"

// drop counts what is left out.
func (c *Conversation) drop(what string, n int) {
	for i := range c.Dropped {
		if c.Dropped[i].What == what {
			c.Dropped[i].Count += n
			return
		}
	}
	if n > 0 {
		c.Dropped = append(c.Dropped, Dropped{what, n})
	}
}

// omit counts what is left out of an object.
func (c *Conversation) omit(v gjson.Result, list []count) {
	for _, left := range list {
		c.drop(left.what, amount(get(v, left.path)))
	}
}

// dropUnknown counts a message with a word for its speaker that no format has.
func (c *Conversation) dropUnknown(word string) {
	const (
		longest = 40
		most    = 10
	)
	what := "messages of nobody"
	if word != "" {
		what = fmt.Sprintf("messages of %.*q", longest, word)
	}
	c.unknown++
	isNew := !slices.ContainsFunc(c.Dropped, func(d Dropped) bool { return d.What == what })
	if isNew && len(c.Dropped) >= most { // a hostile source may have a new word each time
		what = "messages of others"
	}
	c.drop(what, 1)
}

// add adds a message. One without text is counted instead.
func (c *Conversation) add(m Message) {
	if !c.dropIfBlank(m) {
		c.Messages = append(c.Messages, m)
	}
}

// dropIfBlank counts a message without text, and reports whether it is one.
func (c *Conversation) dropIfBlank(m Message) bool {
	if strings.TrimSpace(m.Text) != "" {
		return false
	}
	c.drop("messages without text", 1)
	return true
}

// note adds a remark.
func (c *Conversation) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// Options say what a source does not.
type Options struct {
	Users      []string       // names of the user, for texts
	Characters []string       // names of characters
	Zone       *time.Location // of dates without one; nil: local
}

// zone returns the zone of dates without one.
func (opt *Options) zone() *time.Location { return cmp.Or(opt.Zone, time.Local) }

// ErrUnknown means that nothing in a conversation is understood: no message is by anybody who is known.
var ErrUnknown = errors.New("it does not say who speaks in a way that is known")

// Read reads a conversation that [Scan] found; raw is what the file has there. The error may wrap
// [ErrUnknown].
func Read(name, raw string, opt Options) (*Conversation, error) {
	f := formatNamed(name)
	if f == nil {
		return nil, fmt.Errorf("%q: no such format", name)
	}
	c := &Conversation{Format: name, Greeting: -1}
	var err error
	if f.readText != nil {
		err = f.readText(c, raw, &opt)
	} else {
		// gjson takes the first of repeated keys, JSON.parse the last.
		err = f.read(c, gjson.Parse(lastOfRepeated(raw)), &opt)
	}
	if err != nil {
		return nil, err
	}
	if len(c.Messages) == 0 && c.unknown > 0 {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, Counts(c.Dropped))
	}
	c.User = cmp.Or(c.User, c.nameOf(User))
	c.Character = cmp.Or(c.Character, c.nameOf(Character))
	return c, nil
}

// Speaks reports whether a message is of a role.
func (c *Conversation) Speaks(role Role) bool {
	return slices.ContainsFunc(c.Messages, func(m Message) bool { return m.Role == role })
}

// Counts says in words what was left out.
func Counts(list []Dropped) string {
	var words []string
	for _, d := range list {
		words = append(words, fmt.Sprintf("%s (%d)", d.What, d.Count))
	}
	return strings.Join(words, ", ")
}

// nameOf returns the name of the first message of a role. Where some have a name and others have
// none it is "": the named ones are somebody else's.
func (c *Conversation) nameOf(role Role) (name string) {
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role != role {
			continue
		}
		if m.Name == "" {
			return ""
		}
		name = cmp.Or(name, m.Name)
	}
	return name
}
