// Package convert reads chats of other programs: what their exports hold as messages with
// speakers, dates and alternatives. [Scan] finds the conversations in a file one after the
// other, so that memory follows the longest; [Read] reads one. It writes nothing.
//
// The comment on a format says where its shape was read.
package convert

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"stchat/internal/rawjson"
	"stchat/internal/sendate"
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
	Notes     []string
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

// add adds a message. One without text is counted instead.
func (c *Conversation) add(m Message) {
	if c.says(m) {
		c.Messages = append(c.Messages, m)
	}
}

// says reports whether a message has text, and counts it otherwise.
func (c *Conversation) says(m Message) bool {
	if strings.TrimSpace(m.Text) != "" {
		return true
	}
	c.drop("messages without text", 1)
	return false
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

// format is a way in which conversations are stored.
type format struct {
	name  string
	fits  func(o object) bool                                           // nil: only where it is asked for
	parts func(o object) []byte                                         // the list of conversations within; nil, or not a list: it is one
	read  func(c *Conversation, v []byte, o object, opt *Options) error // reads one
}

// formats lists the formats, in the order in which they are tried.
func formats() []format {
	return []format{
		{name: "kobold", read: readKobold, fits: func(o object) bool {
			return o["savedsettings"] != nil || isList(o["actions"]) && rawjson.KindOf(o["prompt"]) == rawjson.String
		}},
		{name: "cai", read: readCAI, parts: histories, fits: func(o object) bool { return isList(histories(o)) }},
		{name: "ooba", read: readOoba, fits: func(o object) bool {
			return isList(o["data_visible"]) || isList(o["internal"]) && isList(o["visible"])
		}},
		listed("openai", "messages", "role", openai()),
		listed("agnai", "messages", "msg", agnai()),
		{name: "risu", read: readRisu, parts: risuChats, fits: func(o object) bool {
			return o.text("type") == "risuChat" || o.text("type") == "risuAllChats" && isList(o["data"])
		}},
		{name: "chatgpt", read: readChatGPT, fits: func(o object) bool { return rawjson.KindOf(o["mapping"]) == rawjson.ObjectKind }},
		{name: "claude", read: readClaude, fits: func(o object) bool { return isList(o["chat_messages"]) }},
		listed("sharegpt", "conversations", "from", sharegpt()),
		{name: "chub", read: readChub},
		{name: "txt", read: readText},
	}
}

// Formats returns the names of the formats.
func Formats() (list []string) {
	for _, f := range formats() {
		list = append(list, f.name)
	}
	return list
}

// formatOf returns the format of a name, or without one the first that fits; nil if there is none.
func formatOf(name string, o object) *format {
	for _, f := range formats() {
		if f.name == name || name == "" && f.fits != nil && f.fits(o) {
			return &f
		}
	}
	return nil
}

// Read reads a conversation that [Scan] found; raw is what the file has there.
func Read(name string, raw []byte, opt Options) (*Conversation, error) {
	f := formatOf(name, nil)
	if f == nil {
		return nil, fmt.Errorf("%q: no such format", name)
	}
	c := &Conversation{Format: name, Greeting: -1}
	if err := f.read(c, raw, fields(raw), &opt); err != nil {
		return nil, err
	}
	c.User, c.Character = cmp.Or(c.User, c.nameOf(User)), cmp.Or(c.Character, c.nameOf(Character))
	return c, nil
}

// nameOf returns the name of the first message of a role. Where some have a name and others have
// none it is "": the named ones are somebody else's.
func (c *Conversation) nameOf(role Role) (name string) {
	for i := range c.Messages {
		switch m := &c.Messages[i]; {
		case m.Role != role:
		case m.Name == "":
			return ""
		default:
			name = cmp.Or(name, m.Name)
		}
	}
	return name
}

// object is the values of an object, by key: a conversation is gone through once for all of them.
type object map[string][]byte

func fields(raw []byte) object {
	o := object{}
	for key, value := range rawjson.Members(raw) {
		name, _ := rawjson.Unquote(key)
		o[name] = value
	}
	return o
}

func (o object) text(key string) string {
	s, _ := rawjson.Unquote(o[key])
	return s
}

// text returns the string under a path, "" if there is none.
func text(raw []byte, path ...string) string {
	s, _ := rawjson.Unquote(rawjson.Value(raw, path...))
	return s
}

func isList(raw []byte) bool { return rawjson.KindOf(raw) == rawjson.Array }

// first returns the first element of a list, nil if there is none.
func first(list []byte) []byte {
	for e := range rawjson.Elements(list) {
		return e
	}
	return nil
}

// has reports whether an object has a key.
func has(raw []byte, key string) bool {
	_, ok := rawjson.Lookup(raw, key)
	return ok
}

// dateOf reads a date: a text in any of the shapes of send_date, or a number of milliseconds
// since 1970, below 1e11 of seconds. It is zero if it cannot be read.
func dateOf(raw []byte) time.Time {
	f, ok := rawjson.Float(raw)
	if s, isText := rawjson.Unquote(raw); isText {
		if t, ok := sendate.Parse(s); ok {
			return t
		}
		f, ok = rawjson.Float([]byte(s))
	}
	if f < 1e11 {
		f *= 1000
	}
	if const9999 := 253402300799999.0; !ok || !(f > 0 && f <= const9999) { // not NaN either
		return time.Time{}
	}
	return time.UnixMilli(int64(f)).UTC()
}

// thinking cuts what a model thought, in <think>, off the front of its text.
func thinking(s string) (reasoning, rest string) {
	inner, ok := strings.CutPrefix(strings.TrimLeft(s, " \r\n\t"), "<think>")
	if !ok {
		return "", s
	}
	reasoning, rest, ok = strings.Cut(inner, "</think>")
	if !ok {
		return "", s
	}
	return strings.TrimSpace(reasoning), strings.TrimLeft(rest, "\r\n")
}
