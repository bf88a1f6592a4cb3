package follow

import (
	"context"
	"fmt"
	"math"
	"slices"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/plural"
)

// Change says what happens to the messages of a chat.
type Change = extension.Shift

// Insert is one message that is inserted.
type Insert = extension.Insert

// Link is a link of a message that goes.
type Link struct {
	At   int    `json:"at"`
	Kind string `json:"kind"` // checkpoint or branch
	Name string `json:"name"`
}

// State is what [Look] found in a chat that refers to its messages.
type State struct {
	extensions []extension.Extension
	reads      []string
	following  *extension.Following
	lines      []choose.Place // messages with indexes or ids to edit
	links      []Link         // of messages that go
	apart      []Link         // of messages that stay, behind the first that goes or comes
	said       []string       // warnings about what goes with messages
}

// Lost returns the links of the messages that go.
func (s *State) Lost() []Link { return s.links }

// Warnings returns sentences about what goes with messages, other than links, and about chats that
// keep what changes.
func (s *State) Warnings() []string {
	if len(s.apart) == 0 {
		return s.said
	}
	return append(s.said, fmt.Sprintf("%s the messages as they were; the first is %q", plural.Of(len(s.apart), "checkpoint or branch further on keeps", "checkpoints and branches further on keep"), s.apart[0].Name))
}

// Lines returns the messages that [State.Line] may edit, in order.
func (s *State) Lines() []choose.Place { return s.lines }

// Metadata brings chat_metadata in step, and returns what it changed.
func (s *State) Metadata(metadata *rawjson.Object) []extension.Change {
	f := s.following
	f.Metadata, f.Changes = metadata, nil
	for _, e := range s.extensions {
		e.Follow(f)
	}
	return f.Changes
}

// Line returns message i, which stays, with the indexes and ids in it brought in step, or
// line itself if nothing changes.
func (s *State) Line(i int, line []byte) []byte {
	for _, e := range s.extensions {
		line = e.Line(s.following, i, line)
	}
	return line
}

// newState returns a state of which nothing is known yet but the change and the metadata.
func newState(list []extension.Extension, change *Change, metadata *rawjson.Object) *State {
	s := &State{extensions: list, following: &extension.Following{Shift: change, Metadata: metadata}}
	s.reads = extension.Reads(s.extensions)
	for _, e := range s.extensions {
		e.Begin(s.following)
	}
	return s
}

// Behind returns the state of a chat whose messages come behind so many others: only [State.Line] has
// something to do.
func Behind(others int) *State {
	change := &Change{Messages: math.MaxInt, Inserted: make([]Insert, others)}
	return newState(all.New(), change, rawjson.NewObject())
}

// Matters reports whether state of the chat may have to follow a change. It need not if no
// message goes or gets another index, no extension notes anything of messages that come or are
// edited, and nothing depends on the number of visible messages.
func Matters(change *Change, metadata *rawjson.Object) bool {
	if change.Moves() || len(change.Edited) > 0 {
		return true
	}
	s := newState(all.New(), change, metadata)
	for _, i := range change.Inserted {
		if s.look(i.Extra) != nil {
			return true
		}
	}
	return len(change.Inserted)+len(change.Hidden)+len(change.Shown) > 0 && s.following.Marked()
}

// look returns the facts of a message that comes or is edited.
func (s *State) look(extra []byte) []any {
	var m extension.Message
	m.Reset(nil, extra, s.reads)
	return extension.Look(s.extensions, &m)
}

// Look finds what refers, in the metadata of a chat and in its messages, to messages that the
// change concerns. It reads the messages once, unless their facts are given and complete; facts
// may be nil. The chat must not have damaged lines. The error is that of reading.
func Look(ctx context.Context, src choose.Source, change *Change, metadata *rawjson.Object, facts *Facts) (*State, error) {
	return lookFor(ctx, all.New(), src, change, metadata, facts)
}

func lookFor(ctx context.Context, list []extension.Extension, src choose.Source, change *Change, metadata *rawjson.Object, facts *Facts) (*State, error) {
	s := newState(list, change, metadata)
	walk := &walk{state: s, following: s.following}
	if facts.complete() {
		facts.each(walk.message)
		walk.end()
		return s, nil
	}

	r := newReader(s.extensions, metadata, false)
	if !change.Moves() {
		r.holds = nil
	}
	nothing := choose.Choice{Only: func(int) bool { return false }, Whole: true}
	next := 0
	_, err := choose.ScanBeside(ctx, &nothing, src, nil, r.beside(func(facts []Fact) {
		for i := range facts {
			walk.message(next, &facts[i])
			next++
		}
	}))

	walk.end()
	return s, err
}

// walk goes through the messages and the change in step.
type walk struct {
	state     *State
	following *extension.Following
	goneAt    int // position in change.Gone; the others likewise
	insertAt  int
	hiddenAt  int
	shownAt   int
}

// message handles message i.
func (w *walk) message(i int, f *Fact) {
	c := w.following
	w.insert(i)
	c.Pass(false)
	gone := next(c.Gone, &w.goneAt, i)
	hidden := next(c.Hidden, &w.hiddenAt, i)
	shown := next(c.Shown, &w.shownAt, i)
	w.note(i, f, gone)
	if !gone && w.goneAt+w.insertAt > 0 {
		w.state.apart = append(w.state.apart, f.links...)
	}
	switch {
	case gone:
		w.lose(i, f)
	case f.marks.has(edits) && c.Moves():
		w.state.lines = append(w.state.lines, choose.Place{Index: i, Off: f.off, Len: f.length})
	}

	switch {
	case f.marks.has(visible) && (gone || hidden && !f.marks.has(tools)):
		c.Hides++
	case !f.marks.has(visible) && shown && !gone:
		c.Pass(false)
		c.Shows++
	}

	if f.marks.has(visible) {
		c.Visible++
		c.Pass(false)
	}
}

// note hands the facts about message i to the extensions.
func (w *walk) note(i int, f *Fact, gone bool) {
	fresh, edited := w.following.Edited[i]
	var now []any
	if edited && !gone {
		now = w.state.look(fresh)
	}
	for k, e := range w.state.extensions {
		var fact any
		if f.noted != nil {
			fact = f.noted[k]
		}
		switch {
		case gone && fact != nil:
			e.Drop(i, fact)
		case gone:
		case edited:
			e.Drop(i, fact)
			if now != nil && now[k] != nil {
				e.Keep(i, now[k])
			}
		case fact != nil:
			e.Keep(i, fact)
		}
	}
}

// insert handles the messages that are inserted before message i.
func (w *walk) insert(i int) {
	for c := w.following; w.insertAt < len(c.Inserted) && c.Inserted[w.insertAt].At <= i; w.insertAt++ {
		come := &c.Inserted[w.insertAt]
		if come.Visible {
			c.Pass(false)
			c.Shows++
		}
		for k, fact := range w.state.look(come.Extra) {
			if fact != nil {
				w.state.extensions[k].Keep(-1, fact)
			}
		}
	}
}

// end settles what lies beyond the last message.
func (w *walk) end() {
	w.insert(w.following.Messages)
	w.following.Pass(true)
}

// next reports whether i is in a sorted list, and moves *at on to the first element that
// is not before it.
func next(list []int, at *int, i int) bool {
	for *at < len(list) && list[*at] < i {
		*at++
	}
	return *at < len(list) && list[*at] == i
}

// lose notes what goes with a message.
func (w *walk) lose(i int, f *Fact) {
	for _, l := range f.links {
		l.At = i
		w.state.links = append(w.state.links, l)
	}

	const enough = 100
	for k, fact := range slices.Backward(f.noted) { // what extensions keep before what SillyTavern does
		if fact == nil || len(w.state.said) >= enough {
			continue
		}
		if what := w.state.extensions[k].Lost(i, fact); what != "" {
			w.state.said = append(w.state.said, what)
		}
	}
}
