// Package follow keeps a chat's state in step with its messages when messages are removed,
// inserted, hidden or shown. State is what SillyTavern and extensions keep,
// in chat_metadata and in the messages themselves, that refers to messages by index.
//
// SillyTavern itself does none of this: deleting a message in the app leaves every index
// behind it off by one. A [Change] says what happens; [Look] reads the chat once and
// finds what refers to what; [State.Metadata] and [State.Line] then make the edits. State
// whose meaning is unknown is left alone.
package follow

import (
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/luker"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// Fact is what one message holds that state of the chat depends on or refers to.
type Fact struct {
	marks  marks
	swipe  int // the chosen one, if the reader asks for it
	off    int64
	length int64
	links  []Link
	noted  []any // facts by extension; nil: none
}

// marks are what is true of a message.
type marks uint8

const (
	visible marks = 1 << iota // before the change
	tools                     // it stays visible when it is hidden, because of its tool calls
	call                      // it holds tool calls, and is of the system
	reply                     // it is a character's
	edits                     // it has something that may have to change
)

func (m marks) has(mark marks) bool { return m&mark != 0 }

func (m *marks) set(mark marks, is bool) {
	if is {
		*m |= mark
	}
}

// Reader reads the facts of messages. It may be used in several goroutines.
type Reader struct {
	extensions []extension.Extension
	holds      []func(m *extension.Message) bool // what may have to change in messages
	reads      []string
	readsLine  []string
	swipes     bool
	messages   extension.Messages
}

// NewReader returns a reader of all that may matter to a chat with this metadata, whatever
// changes. With swipes it also reads the chosen swipes.
func NewReader(metadata *rawjson.Object, swipes bool) *Reader {
	return newReader(all.New(), metadata, swipes)
}

func newReader(list []extension.Extension, metadata *rawjson.Object, swipes bool) *Reader {
	r := &Reader{
		extensions: list,
		reads:      append(extension.Reads(list), keyCheckpoint, keyBranches),
		readsLine:  extension.ReadsLine(list),
		swipes:     swipes,
	}

	for _, e := range list {
		if holds := e.Holds(metadata); holds != nil {
			r.holds = append(r.holds, holds)
		}
	}
	return r
}

// Places in keys.
const (
	keyUser = iota
	keySystem
	keyExtra
	keySwipeInfo
	keySwipeID
	ownKeys // how many there are before those that extensions read
)

// keys returns the keys of a message that are read.
func (r *Reader) keys() []string {
	return append([]string{"is_user", "is_system", "extra", "swipe_info", "swipe_id"}, r.readsLine...)
}

// Keys of extra that are links to chats.
const (
	keyCheckpoint = "bookmark_link"
	keyBranches   = "branches"
)

// beside returns what reads the facts of all messages beside a scan.
func (r *Reader) beside(fold func(facts []Fact)) choose.Beside[[]Fact] {
	return choose.Beside[[]Fact]{
		Keys: r.keys(),
		Read: func(l *jsonl.Line, keys []int, batch *[]Fact) { *batch = append(*batch, r.read(l, keys)) },
		Fold: func(batch *[]Fact) { fold(*batch) },
		Reset: func(batch *[]Fact) {
			clear(*batch)
			*batch = (*batch)[:0]
		},
	}
}

// read collects what one message says. numbers are those that keys have in the line.
func (r *Reader) read(l *jsonl.Line, numbers []int) Fact {
	value := func(key int) []byte {
		raw, _ := l.Value(numbers[key])
		return raw
	}
	system := value(keySystem)
	m := r.messages.Get()
	defer r.messages.Put(m)
	m.Reset(l.Raw, value(keyExtra), r.reads)
	m.ReadLine(r.readsLine, func(i int) []byte { return value(ownKeys + i) })
	m.Off, m.SwipeInfo = l.Off, value(keySwipeInfo)
	f := Fact{off: l.Off, length: int64(len(l.Raw)), links: linksOf(m.Value(keyCheckpoint), m.Value(keyBranches))}
	hasTools := message.HoldsCalls(m.Value(extension.KeyTools))
	f.marks.set(tools, hasTools)
	f.marks.set(call, hasTools && rawjson.Truthy(system))
	f.marks.set(reply, !rawjson.Truthy(value(keyUser)) && !rawjson.Truthy(system))
	f.marks.set(visible, m.Visible(system))
	for _, holds := range r.holds {
		f.marks.set(edits, holds(m))
	}
	f.noted = extension.Look(r.extensions, m)
	if r.swipes {
		f.swipe = luker.Swipe(value(keySwipeID))
	}
	return f
}

func linksOf(checkpoint, branches []byte) (links []Link) {
	add := func(kind string, raw []byte) {
		if name, ok := rawjson.Unquote(raw); ok && name != "" {
			links = append(links, Link{Kind: kind, Name: name})
		}
	}
	add("checkpoint", checkpoint)
	for raw := range rawjson.Elements(branches) {
		add("branch", raw)
	}
	return links
}

// Facts are the facts of all messages of a chat, for a [Look] that need not read the chat
// again. They take a byte for each message, and some more for those that may have to change.
type Facts struct {
	marks  []marks
	swipes []int
	lines  []choose.Place // of the messages with the mark edits, in order
	held   []held         // of the few messages that have links or notes, in order
	room   int            // bytes that held may still take; below 0: it takes too many, and is not kept
}

// held is what few messages hold.
type held struct {
	index int
	links []Link
	noted []any
}

// NewFacts returns an empty list.
func NewFacts() *Facts { return &Facts{room: 1 << 20} }

// Beside reads the facts of all messages beside a scan of a chat.
func (a *Facts) Beside(r *Reader) choose.Beside[[]Fact] {
	return r.beside(func(facts []Fact) { a.add(r, facts) })
}

// add appends the facts of the next messages that a reader read.
func (a *Facts) add(r *Reader, facts []Fact) {
	for i := range facts {
		f := &facts[i]
		index := len(a.marks)
		a.marks = append(a.marks, f.marks)
		if r.swipes {
			a.swipes = append(a.swipes, f.swipe)
		}
		if f.marks.has(edits) {
			a.lines = append(a.lines, choose.Place{Index: index, Off: f.off, Len: f.length})
		}
		if len(f.links) == 0 && f.noted == nil {
			continue
		}
		if a.room -= sizeOf(f); !a.complete() {
			a.held = nil
			continue
		}
		a.held = append(a.held, held{index, f.links, f.noted})
	}
}

// sizeOf returns about how many bytes the facts of a message take that few messages have.
func sizeOf(f *Fact) (size int) {
	const each = 64
	size = each + len(f.noted)*16
	for _, fact := range f.noted {
		if fact != nil {
			size += each
		}
		if text, ok := fact.([]byte); ok {
			size += len(text)
		}
	}

	for _, l := range f.links {
		size += each + len(l.Name)
	}
	return size
}

// Call reports whether a message of the system holds tool calls.
func (a *Facts) Call(message int) bool { return a.marks[message].has(call) }

// Reply reports whether a message is a character's.
func (a *Facts) Reply(message int) bool { return a.marks[message].has(reply) }

// Swipes returns the chosen swipe of each message, nil if they were not read; the facts may be nil.
func (a *Facts) Swipes() []int {
	if a == nil {
		return nil
	}
	return a.swipes
}

// First returns the facts of the first n messages.
func (a *Facts) First(n int) *Facts {
	first := *a
	first.marks, first.swipes = a.marks[:n], a.swipes[:min(n, len(a.swipes))]
	return &first
}

// complete reports whether the facts are all there.
func (a *Facts) complete() bool { return a != nil && a.room >= 0 }

// each calls do with the facts in order; f is valid until it returns.
func (a *Facts) each(do func(index int, f *Fact)) {
	lines := a.lines
	held := a.held
	var f Fact
	for i, m := range a.marks {
		f = Fact{marks: m}
		if m.has(edits) {
			f.off, f.length = lines[0].Off, lines[0].Len
			lines = lines[1:]
		}
		if len(held) > 0 && held[0].index == i {
			f.links = held[0].links
			f.noted = held[0].noted
			held = held[1:]
		}
		do(i, &f)
	}
}

// Floors finds where the commits of Luker's floor logs belong after a change, so that a
// replay yields the same state as before.
type Floors struct {
	Change *Change
	Before []int         // the chosen swipe of each message
	After  []int         // the same afterwards, by new index
	Gone   map[int][]int // by message: swipes deleted one after another, from 0
}

// Where returns what becomes of a commit; it is a luker.Where. Commits of a removed tail
// and of removed swipes go, as in Luker (truncateCommits, removeSwipeFromCommits). Luker
// would leave the commits of a message removed from the middle to another message; here
// they move to the message before it if they counted, and go if not.
func (f *Floors) Where(c *luker.Commit) (floor, swipe int, keep bool) {
	if !c.Valid {
		return c.Floor, c.Swipe, true
	}
	if c.Floor >= f.Change.Messages { // beyond the last message
		return c.Floor + f.Change.Left() - f.Change.Messages, c.Swipe, len(f.Change.Gone) == 0
	}
	swipe = c.Swipe
	for _, gone := range f.Gone[c.Floor] {
		switch {
		case swipe == gone:
			return 0, 0, false
		case swipe > gone:
			swipe--
		}
	}

	if !f.Change.Goes(c.Floor) {
		return f.Change.Map(c.Floor), swipe, true
	}
	if _, follows := f.Change.Up(c.Floor); !follows || c.Swipe != f.Before[c.Floor] {
		return 0, 0, false
	}
	to, ok := f.Change.Down(c.Floor)
	if !ok {
		to = 0
	}
	return to, f.After[to], true
}
