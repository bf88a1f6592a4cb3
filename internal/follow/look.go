package follow

import (
	"context"
	"fmt"

	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// Link is a link of a message that goes.
type Link struct {
	At   int    `json:"at"`
	Kind string `json:"kind"` // checkpoint or branch
	Name string `json:"name"`
}

// Look finds what refers, in the metadata of a chat and in its messages, to messages that the
// change concerns. It reads the messages once, unless their facts are given and complete; facts
// may be nil. The chat must not have damaged lines. The error is that of reading.
func Look(ctx context.Context, src choose.Source, change *Change, metadata *rawjson.Object, facts *Facts) (*State, error) {
	s := &State{change: change, boundaries: boundariesOf(metadata), nodes: idsOf(metadata, change)}
	walk := &walk{state: s}
	if facts.complete() {
		facts.each(walk.take)
		walk.end()
		return s, nil
	}
	r := &Reader{indexes: change.Moves(), markers: len(s.nodes.renamed) > 0}
	nothing := choose.Choice{Only: func(int) bool { return false }, Whole: true}
	next := 0
	_, err := choose.ScanBeside(ctx, &nothing, src, nil, choose.Beside[[]Fact]{
		Keys: Keys(),
		Read: func(l *jsonl.Line, keys []int, batch *[]Fact) { *batch = append(*batch, r.Read(l, keys)) },
		Fold: func(batch *[]Fact) {
			for i := range *batch {
				walk.take(next, &(*batch)[i])
				next++
			}
		},
		Reset: func(batch *[]Fact) {
			clear(*batch)
			*batch = (*batch)[:0]
		},
	})
	walk.end()
	return s, err
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
func (w *walk) take(i int, f *Fact) {
	c := w.state.change
	w.insert(i)
	w.pass()
	gone := next(c.Gone, &w.goneAt, i)
	hidden := next(c.Hidden, &w.hiddenAt, i)
	shown := next(c.Shown, &w.shownAt, i)
	w.operate(i, f.ops, gone)
	if f.marks.has(recap) {
		w.state.recaps = append(w.state.recaps, i)
	}
	switch {
	case gone:
		w.lose(i, f)
	case f.marks.has(edits) && c.Moves():
		w.state.lines = append(w.state.lines, choose.Place{Index: i, Off: f.off, Len: f.length})
	}
	switch {
	case f.marks.has(visible) && (gone || hidden && !f.marks.has(tools)):
		w.state.hides++
	case !f.marks.has(visible) && shown && !gone:
		w.pass()
		w.state.shows++
	}
	if f.marks.has(visible) {
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
func (w *walk) lose(i int, f *Fact) {
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
	if f.marks.has(scene) {
		lost(fmt.Sprintf("message %d, which ends a scene of Auto-Recap, is deleted", i))
	} else if f.marks.has(recap) {
		lost(fmt.Sprintf("the scene recap on message %d is deleted with it", i))
	}
	if f.marks.has(memory) {
		lost(fmt.Sprintf("the summary on message %d (extra.memory) is deleted with it", i))
	}
}
