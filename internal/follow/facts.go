package follow

import (
	"bytes"

	"stchat/internal/choose"
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/illustrator"
	"stchat/internal/extension/luker"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
)

// Fact is what one message holds that state of the chat depends on or refers to.
type Fact struct {
	marks  marks
	swipe  int // the chosen one, if the reader asks for it
	off    int64
	length int64
	links  []Link
	ops    []byte // extra.var_ops
}

// marks are what is true of a message.
type marks uint8

const (
	visible marks = 1 << iota // before the change
	tools                     // it stays visible when it is hidden, because of its tool calls
	call                      // it holds tool calls, and is of the system
	reply                     // it is a character's
	recap                     // it has a scene recap
	scene                     // it ends a scene
	memory                    // it has extra.memory
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
	indexes bool // indexes in messages may have to change
	markers bool // and the ids of prompts
	swipes  bool
}

// NewReader returns a reader of all that may matter to a chat with this metadata, whatever
// changes. With swipes it also reads the chosen swipes.
func NewReader(metadata *rawjson.Object, swipes bool) *Reader {
	return &Reader{indexes: true, markers: illustrator.Read(metadata) != nil, swipes: swipes}
}

// Places in [Keys].
const (
	keyUser = iota
	keySystem
	keyExtra
	keySwipeInfo
	keySwipeID
)

// Keys returns the keys of a message that a reader reads.
func Keys() []string { return []string{"is_user", "is_system", "extra", "swipe_info", "swipe_id"} }

// Keys that are read of extra.
const (
	inTools = iota
	inModule
	inDocumented
	inMemory
	inCheckpoint
	inBranches
	inOperations
	inAll
)

// Read collects what one message says. numbers are those that [Keys] have in the line.
func (r *Reader) Read(l *jsonl.Line, numbers []int) Fact {
	value := func(key int) []byte {
		raw, _ := l.Value(numbers[key])
		return raw
	}
	system, extra := value(keySystem), value(keyExtra)
	var at [inAll]rawjson.Span
	rawjson.Places(extra, at[:], "tool_invocations", autorecap.Module, autorecap.DocumentedModule, "memory", "bookmark_link", "branches", "var_ops")
	in := func(key int) []byte { return extra[at[key].At:at[key].End] }
	f := Fact{off: l.Off, length: int64(len(l.Raw))}
	hasTools := rawjson.KindOf(in(inTools)) == rawjson.Array
	f.marks.set(tools, hasTools)
	f.marks.set(call, hasTools && rawjson.Truthy(system))
	f.marks.set(reply, message.Role(value(keyUser), system) == message.Character)
	f.marks.set(visible, message.Visible(system, func() []byte { return in(inTools) }))
	if mark, ok := autorecap.ReadMark(in(inModule), in(inDocumented)); ok {
		said := mark.Scene()
		f.marks.set(recap, said.Recap)
		f.marks.set(scene, said.Break)
	}
	f.marks.set(edits, r.indexes && (hasIndex(extra) || hasIndex(value(keySwipeInfo))) || r.markers && illustrator.HasMarker(l.Raw))
	f.marks.set(memory, rawjson.Truthy(in(inMemory)))
	f.links = linksOf(in(inCheckpoint), in(inBranches))
	if at[inOperations].End > 0 {
		f.ops = bytes.Clone(in(inOperations))
	}
	if r.swipes {
		f.swipe = luker.Swipe(value(keySwipeID))
	}
	return f
}

// hasIndex reports whether an extra, or a list that has some, may have startIdx or endIdx.
func hasIndex(raw []byte) bool { return bytes.Contains(raw, []byte("Idx")) }

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
	lines  []choose.Place
	held   []held
	room   int // bytes that held may still take; below 0: it takes too many, and is not kept
}

// held is what few messages hold.
type held struct {
	index int
	links []Link
	ops   []byte
}

// NewFacts returns an empty list.
func NewFacts() *Facts { return &Facts{room: 1 << 20} }

// Add appends the facts of the next messages that a reader read.
func (a *Facts) Add(r *Reader, facts []Fact) {
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
		if len(f.links) == 0 && f.ops == nil {
			continue
		}
		const more = 64 // bytes, besides the texts
		if a.room -= more + len(f.ops); a.room < 0 {
			a.held = nil
			continue
		}
		for _, l := range f.links {
			a.room -= more + len(l.Name)
		}
		a.held = append(a.held, held{index, f.links, f.ops})
	}
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

// complete reports whether the facts are all there.
func (a *Facts) complete() bool { return a != nil && a.room >= 0 }

// each calls do with the facts in order.
func (a *Facts) each(do func(index int, f *Fact)) {
	lines, rest := a.lines, a.held
	for i, m := range a.marks {
		f := Fact{marks: m}
		if m.has(edits) {
			f.off, f.length = lines[0].Off, lines[0].Len
			lines = lines[1:]
		}
		if len(rest) > 0 && rest[0].index == i {
			f.links, f.ops = rest[0].links, rest[0].ops
			rest = rest[1:]
		}
		do(i, &f)
	}
}
