// Package extension says what the program must know of an extension that keeps state about a
// chat. Each folder below holds what is known of one of them; core is SillyTavern itself. The
// package all lists them.
//
// State refers to messages by number, and to chats and lorebooks by name. So an [Extension] is
// asked what its state was at an earlier message, what becomes of it when messages come and go,
// which of its keys hold names (the table of [Row]), what is wrong in it, and what there is
// to show.
package extension

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
)

// About says what an extension is called, and which keys are its own.
type About struct {
	Name      string   // in reports
	Keys      []string // of chat_metadata
	Rows      Table    // of its keys, and of what it keeps elsewhere; their Extension need not be given
	Reads     []string // keys of a message's extra that Look, Holds and Sight read
	ReadsLine []string // keys of the message itself that Look reads
	Namespace string   // under which all that it keeps is shown; "": it is not
}

// Extension knows one extension. A value serves one pass over one chat: Look may run in several
// goroutines at once, so it must not touch what the other methods keep. All methods but About
// may be left out by embedding [None].
type Extension interface {
	// About describes the extension.
	About() About

	// Look returns what must be known about one message, nil for nothing. The fact must be
	// small, and must not alias the message's bytes.
	Look(m *Message) any
	// Keep takes the fact about message i of those that count, in order; i is -1 for a message
	// that comes. For the last message of a branch it is always called, with nil if Look
	// returned nothing.
	Keep(i int, fact any)
	// Drop takes the fact about a message that a branch does not have, or has with another
	// swipe, that goes, or that is edited; it may be called before the last call of Keep. The
	// fact of an edited message may be nil.
	Drop(i int, fact any)

	// Isolate sets the state in the metadata back to what it was at an earlier message.
	Isolate(b *Branch)

	// Begin is called before the messages are read that a change is about.
	Begin(f *Following)
	// Holds returns what reports whether a message may hold numbers or ids that follow a
	// change; nil: none does.
	Holds(metadata *rawjson.Object) func(m *Message) bool
	// Lost describes what goes with message i, "" for nothing.
	Lost(i int, fact any) string
	// Follow brings the metadata in step with a change.
	Follow(f *Following)
	// Line returns message i, which stays, in step with a change.
	Line(f *Following, i int, line []byte) []byte

	// Rename follows a lorebook to its new name or its clone. Keys that hold its name are
	// edited already.
	Rename(r *Renaming)

	// Watch is called before the messages are read of a chat that is judged, if it has metadata.
	Watch(metadata *rawjson.Object)
	// Sight tells what a message says that Judge must know. It may run in several goroutines at
	// once.
	Sight(s *Sighting)
	// Sighted takes what was seen in message i, in order. It returns what is wrong there by itself,
	// "" for nothing, and the rule that says so.
	Sighted(i int, id string) (rule, fault string)
	// Judge reports what is wrong in the metadata by itself, and against the messages.
	Judge(j *Judging)
	// Repair repairs what Judge reports, as far as that is wanted.
	Repair(m *Repairing)
	// View describes what the extension keeps; nil: nothing. bytes are of the values of its keys.
	View(metadata *rawjson.Object, bytes int64) View
	// State returns all that it keeps in a chat, as a document; nil: nothing.
	State(ctx context.Context, s *Stating) (any, error)
}

// None is an extension that keeps nothing.
type None struct{}

// Look returns no fact.
func (None) Look(*Message) any { return nil }

// Keep does nothing.
func (None) Keep(int, any) {}

// Drop does nothing.
func (None) Drop(int, any) {}

// Isolate does nothing.
func (None) Isolate(*Branch) {}

// Begin does nothing.
func (None) Begin(*Following) {}

// Holds returns nil.
func (None) Holds(*rawjson.Object) func(*Message) bool { return nil }

// Lost returns nothing.
func (None) Lost(int, any) string { return "" }

// Follow does nothing.
func (None) Follow(*Following) {}

// Line returns the line as it is.
func (None) Line(_ *Following, _ int, line []byte) []byte { return line }

// Rename does nothing.
func (None) Rename(*Renaming) {}

// Watch does nothing.
func (None) Watch(*rawjson.Object) {}

// Sight sees nothing.
func (None) Sight(*Sighting) {}

// Sighted finds nothing.
func (None) Sighted(int, string) (rule, fault string) { return "", "" }

// Judge finds nothing.
func (None) Judge(*Judging) {}

// Repair does nothing.
func (None) Repair(*Repairing) {}

// View returns nil.
func (None) View(*rawjson.Object, int64) View { return nil }

// State returns nil.
func (None) State(context.Context, *Stating) (any, error) { return nil, nil }

// Find returns the extension of one type from a list.
func Find[T Extension](list []Extension) (found T) {
	for _, e := range list {
		if e, ok := e.(T); ok {
			return e
		}
	}
	return found
}

// Change is one thing that was changed, or left because no rule covers it.
type Change struct {
	Extension string `json:"extension"`
	Change    string `json:"change"` // for people: "3 of 10 versions kept, current 10 → 3"
	Left      bool   `json:"-"`      // its value could not be found out, so the later one stays

	What      What   `json:"-"` // for who has other words for it
	Things    string `json:"-"` // what is counted, in the singular
	Count, Of int    `json:"-"`
}

// What is what a [Change] does to an extension's state.
type What int

// The changes that have words of their own.
const (
	Other    What = iota
	Internal      // what nobody but the extension looks at
	Kept          // Count of Of Things are kept
	Moved         // Count Things go along with their messages
	Followed      // Count Things go along with their messages, and Of are removed
	Removed       // Count Things go
	Rewound       // of the versions of the running recap, Of, that of the number Count is current now; below 0: none is left
)

// Report collects changes.
type Report struct{ Changes []Change }

// Add adds a change.
func (r *Report) Add(e Extension, format string, args ...any) {
	r.Changes = append(r.Changes, Change{Extension: e.About().Name, Change: fmt.Sprintf(format, args...)})
}

// AddInternal adds a change that nobody but the extension looks at.
func (r *Report) AddInternal(e Extension, format string, args ...any) {
	r.Add(e, format, args...)
	r.Changes[len(r.Changes)-1].What = Internal
}

// Count adds a change of some of several things, with its text in full.
func (r *Report) Count(e Extension, what What, things string, n, of int, format string, args ...any) {
	r.Add(e, format, args...)
	last := &r.Changes[len(r.Changes)-1]
	last.What = what
	last.Things = things
	last.Count = n
	last.Of = of
}

// Kept adds how many of some things are left, unless that is all. thing is one of them, behind what else
// is said of them.
func (r *Report) Kept(e Extension, kept, total int, thing, behind string) {
	if kept < total {
		r.Count(e, Kept, thing, kept, total, "%d of %s%s kept", kept, plural.S(total, thing), behind)
	}
}

// Leave adds a value that stays because its earlier value could not be found out.
func (r *Report) Leave(e Extension, format string, args ...any) {
	r.Add(e, format, args...)
	r.Changes[len(r.Changes)-1].Left = true
}

// Branch is the metadata of a chat that is cut off after a message, which is edited to what it
// was then.
type Branch struct {
	Report
	Metadata *rawjson.Object
	At       int    // N, the last message of the branch
	Visible  int    // how many of messages 0 to N core counts in a prompt
	Chat     string // the branch's name, without ".jsonl"; "" if it has none
}

// Messages returns how many messages the branch has.
func (b *Branch) Messages() int { return b.At + 1 }

// Renaming is a lorebook with a new name, or a clone, and the metadata of a chat that names it.
type Renaming struct {
	Report
	Metadata *rawjson.Object
	From     *lorebook.Book
	To       *lorebook.Book // the book or its clone as it is (or will be) in its file
	Plain    *lorebook.Book // the same with the names in its entries as they were
	Snapshot bool           // To is an earlier state, so that an entry it lacks did not exist yet
	Own      bool           // the book is the chat's own
	Lost     int            // timed effects that are removed, since no entry fits
}

// Stating is a chat of which all that an extension keeps is to be shown.
type Stating struct {
	Metadata *rawjson.Object
	Source   jsonl.Source
	From     int64                                    // where its messages begin
	Line     int                                      // how many physical lines are before them
	Worlds   string                                   // the folder of the lorebooks; "": not known
	Serves   func(address string) (exists, ours bool) // see [Judging]
}

// View is what an extension keeps: a JSON object with name, known (true) and bytes among its
// keys. Cells returns a label for it, and what there is as a row of texts; Entries how many there
// are of what it is mostly about.
type View interface {
	Cells() (label string, cells []string)
	Entries() int
}

// Reads returns the keys of a message's extra that extensions read.
func Reads(list []Extension) []string {
	return eachOnce(list, func(about About) []string { return about.Reads })
}

// ReadsLine returns the keys of a message itself that extensions read.
func ReadsLine(list []Extension) []string {
	return eachOnce(list, func(about About) []string { return about.ReadsLine })
}

// eachOnce returns the keys that extensions tell of themselves, each once.
func eachOnce(list []Extension, of func(About) []string) (keys []string) {
	for _, e := range list {
		for _, key := range of(e.About()) {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// Look returns the facts about a message by extension, nil for none.
func Look(list []Extension, m *Message) (facts []any) {
	for i, e := range list {
		if fact := e.Look(m); fact != nil {
			if facts == nil {
				facts = make([]any, len(list))
			}
			facts[i] = fact
		}
	}
	return facts
}

// Message is one message as an extension sees it. What it holds is valid during the call only.
type Message struct {
	Raw       []byte // the line
	Off       int64  // where it is in the chat's file; -1: it is not as it is there
	SwipeInfo []byte
	Extra     []byte

	keys   []string // that are known to be read of extra
	places []rawjson.Span

	lineKeys   []string // likewise of the line itself
	lineValues [][]byte
}

// Reset makes m the message whose extra has been found; keys are those of [Reads].
func (m *Message) Reset(raw, extra []byte, keys []string) {
	m.Raw = raw
	m.Extra = extra
	m.keys = keys
	m.Off = -1
	m.SwipeInfo = nil
	m.lineKeys = nil
	if len(m.places) < len(keys) {
		m.places = make([]rawjson.Span, len(keys))
	}
	rawjson.Places(extra, m.places, keys...)
}

// ReadLine notes the values that keys of the line itself have, which are those of [ReadsLine]; value
// returns that of the i-th.
func (m *Message) ReadLine(keys []string, value func(i int) []byte) {
	m.lineKeys = keys
	m.lineValues = m.lineValues[:0]
	for i := range keys {
		m.lineValues = append(m.lineValues, value(i))
	}
}

// LineValue returns the raw value of a key of the line itself, nil if there is none or the line is not
// known.
func (m *Message) LineValue(key string) []byte {
	if i := slices.Index(m.lineKeys, key); i >= 0 {
		return m.lineValues[i]
	}
	return nil
}

// Messages keeps messages that are no longer used, so that a chat's need not each be allocated.
type Messages struct{ pool sync.Pool }

// Get returns a message to reset.
func (p *Messages) Get() *Message {
	if m, ok := p.pool.Get().(*Message); ok {
		return m
	}
	return new(Message)
}

// Put takes back a message that nobody looks at any more.
func (p *Messages) Put(m *Message) { p.pool.Put(m) }

// Value returns the raw value of a key of the message's extra, nil if there is none.
func (m *Message) Value(key string) []byte {
	if i := slices.Index(m.keys, key); i >= 0 {
		if at := m.places[i]; at.End > 0 {
			return m.Extra[at.At:at.End:at.End]
		}
	}
	return nil
}

// KeyTools is the key of extra that makes core count a message of the system; all readers of
// messages have it among their keys.
const KeyTools = "tool_invocations"

// Visible reports whether core counts the message in a prompt.
func (m *Message) Visible(isSystem []byte) bool {
	return message.Visible(isSystem, func() []byte { return m.Value(KeyTools) })
}
