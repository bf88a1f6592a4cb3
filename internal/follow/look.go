package follow

import (
	"bytes"
	"context"
	"fmt"

	"stchat/internal/autorecap"
	"stchat/internal/illustrator"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
)

// Source is where a chat's messages lie.
type Source struct {
	jsonl.Source
	Body    int64 // offset at which they begin, behind the header
	Line    int   // physical lines before Body
	Workers int   // goroutines at most; 0: as many as processors
}

// Line is a message that the change may edit.
type Line struct {
	Index int
	Off   int64
	Len   int64
}

// Link is a link of a message that goes.
type Link struct {
	At   int    `json:"at"`
	Kind string `json:"kind"` // checkpoint or branch
	Name string `json:"name"`
}

// Keys that are read of a line.
const (
	keySystem = iota
	keyExtra
)

// fact is what was found in one line.
type fact struct {
	visible bool // before the change
	tools   bool // it stays visible when it is hidden
	recap   bool // it has a scene recap
	scene   bool // it ends a scene
	edits   bool // it has something that may have to change
	memory  bool // extra.memory
	off     int64
	length  int64
	links   []Link
	ops     []byte // extra.var_ops
}

// Look reads the messages of a chat once and finds what refers, in the metadata and in
// them, to messages that the change concerns. The chat must not have damaged lines. The
// error is that of reading.
func Look(ctx context.Context, src Source, change *Change, metadata *rawjson.Object) (*State, error) {
	s := &State{change: change, boundaries: boundariesOf(metadata), nodes: idsOf(metadata, change)}
	walk := &walk{state: s}
	err := jsonl.Map(ctx, src.Source, jsonl.MapOptions{
		From: src.Body, Line: src.Line, Limit: -1, Keys: jsonl.NewKeys("is_system", "extra"), Workers: src.Workers,
	}, func(l *jsonl.Line, batch *[]fact) {
		if l.Damage == nil {
			*batch = append(*batch, read(l, change, &s.nodes))
		}
	}, func(batch *[]fact, base jsonl.Base, _ jsonl.Damages) error {
		for i := range *batch {
			walk.take(base.Index+i, &(*batch)[i])
		}
		return nil
	}, func(batch *[]fact) { *batch = (*batch)[:0] })
	walk.end()
	return s, err
}

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

// read collects what one line says; it runs in several goroutines.
func read(l *jsonl.Line, change *Change, nodes *ids) fact {
	system, _ := l.Value(keySystem)
	extra, _ := l.Value(keyExtra)
	var at [inAll]rawjson.Span
	rawjson.Places(extra, at[:], "tool_invocations", autorecap.Module, autorecap.DocumentedModule, "memory", "bookmark_link", "branches", "var_ops")
	value := func(key int) []byte { return extra[at[key].At:at[key].End] }
	tools := value(inTools)
	f := fact{off: l.Off, length: int64(len(l.Raw)), tools: rawjson.KindOf(tools) == rawjson.Array}
	f.visible = message.Visible(system, func() []byte { return tools })
	if mark, ok := autorecap.ReadMark(value(inModule), value(inDocumented)); ok {
		scene := mark.Scene()
		f.recap, f.scene = scene.Recap, scene.Break
	}
	f.edits = change.Moves() && bytes.Contains(l.Raw, []byte("Idx")) || len(nodes.renamed) > 0 && illustrator.HasMarker(l.Raw)
	f.memory = rawjson.Truthy(value(inMemory))
	f.links = linksOf(value(inCheckpoint), value(inBranches))
	if at[inOperations].End > 0 {
		f.ops = bytes.Clone(value(inOperations))
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

// walk goes through the messages and the change in step.
type walk struct {
	state    *State
	next     int // the first boundary that is not passed yet
	goneAt   int // position in change.Gone; the others likewise
	insertAt int
	hiddenAt int
	shownAt  int
}

// take handles message i.
func (w *walk) take(i int, f *fact) {
	c := w.state.change
	w.insert(i)
	w.pass()
	gone := next(c.Gone, &w.goneAt, i)
	hidden := next(c.Hidden, &w.hiddenAt, i)
	shown := next(c.Shown, &w.shownAt, i)
	w.operate(i, f.ops, gone)
	if f.recap {
		w.state.recaps = append(w.state.recaps, i)
	}
	switch {
	case gone:
		w.lose(i, f)
	case f.edits && c.Moves():
		w.state.lines = append(w.state.lines, Line{i, f.off, f.length})
	}
	switch {
	case f.visible && (gone || hidden && !f.tools):
		w.state.hides++
	case !f.visible && shown && !gone:
		w.pass()
		w.state.shows++
	}
	if f.visible {
		w.state.visible++
		w.pass()
	}
}

// operate replays what message i notes about Luker's variables. What a removed message
// notes is only mentioned.
func (w *walk) operate(i int, ops []byte, gone bool) {
	s := w.state
	now, other := s.change.Operations[i]
	if !gone && !other {
		s.variables.Apply(ops)
		return
	}
	s.variables.Mention(ops)
	s.operated = s.operated || ops != nil
	if !gone {
		s.variables.Apply(now)
		s.operated = s.operated || now != nil
	}
}

// insert handles the messages that are inserted before message i.
func (w *walk) insert(i int) {
	for c := w.state.change; w.insertAt < len(c.Inserted) && c.Inserted[w.insertAt].At <= i; w.insertAt++ {
		come := &c.Inserted[w.insertAt]
		if come.Visible {
			w.pass()
			w.state.shows++
		}
		if come.Operations != nil {
			w.state.variables.Apply(come.Operations)
			w.state.operated = true
		}
	}
}

// pass settles the boundaries at or before the number of visible messages seen so far:
// later changes do not move them.
func (w *walk) pass() {
	for w.next < len(w.state.boundaries) && w.state.boundaries[w.next].at <= w.state.visible {
		w.state.boundaries[w.next].moved = w.state.shows - w.state.hides
		w.next++
	}
}

// end settles what lies beyond the last message.
func (w *walk) end() {
	w.insert(w.state.change.Messages)
	for ; w.next < len(w.state.boundaries); w.next++ {
		w.state.boundaries[w.next].moved = w.state.shows - w.state.hides
	}
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
func (w *walk) lose(i int, f *fact) {
	for _, l := range f.links {
		l.At = i
		w.state.links = append(w.state.links, l)
	}
	lost := func(what string) {
		const enough = 100
		if len(w.state.said) < enough {
			w.state.said = append(w.state.said, what)
		}
	}
	if f.scene {
		lost(fmt.Sprintf("message %d ends a scene of Auto-Recap, and goes", i))
	} else if f.recap {
		lost(fmt.Sprintf("the scene recap on message %d goes with it", i))
	}
	if f.memory {
		lost(fmt.Sprintf("the summary on message %d (extra.memory) goes with it", i))
	}
}
