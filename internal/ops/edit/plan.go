package edit

import (
	"cmp"
	"context"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/extension/follow"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// Plan is the changes to make to one chat. All indexes are those before the changes.
type Plan struct {
	Add      []Insertion
	Change   []choose.Place // messages that may change, each once, in order
	Edits    Edits
	Delete   []choose.Place
	Metadata func(metadata []byte) ([]byte, error) // nil: no change

	Taints bool   // SillyTavern would mark the chat as tainted: no longer as its greeting made it
	Save   string // a new file for the deleted lines; "" for none

	Found *placesByLine // what substitutions find, as the edits are made; nil: there are none

	Before func(s *changeset.Set) error   // drafts files that messages will name; nil: none
	Guard  func(kept, line []byte) []byte // appends what of a message must be the same afterwards; nil: it is not checked

	swipesGone map[int][]int // deleted swipes by message, from 0, one after the other
}

// Insertion is one message to add.
type Insertion struct {
	At    int          // before the message with this index; the number of messages: at the end
	After choose.Place // the message before that, if At is neither 0 nor the end
	Line  []byte
}

// Edit returns the new state of a message. It must not change line. It may run beside other
// edits, and makes the same of the same line each time: it is made once to see what it changes,
// and once to write it.
type Edit func(line []byte) ([]byte, error)

// Edits begins to make edits, and returns a function that returns the edit of a message: it is
// called for each message in Change, in their order.
type Edits func(ctx context.Context) func(at choose.Place) Edit

// each returns Edits that make the same edit in all messages.
func each(edit Edit) Edits {
	return func(context.Context) func(choose.Place) Edit { return func(choose.Place) Edit { return edit } }
}

// isLines reports whether the plan concerns messages, not just the metadata.
func (p *Plan) isLines() bool { return len(p.Add)+len(p.Change)+len(p.Delete) > 0 }

// moves returns which messages are deleted and added, for the state that follows.
func (p *Plan) moves(messages int) *follow.Change {
	c := &follow.Change{Messages: messages, Edited: map[int][]byte{}}
	for _, d := range p.Delete {
		c.Gone = append(c.Gone, d.Index)
	}
	for _, a := range p.Add {
		visible := message.Visible(rawjson.Value(a.Line, "is_system"), func() []byte {
			return rawjson.Value(a.Line, "extra", "tool_invocations")
		})
		c.Inserted = append(c.Inserted, follow.Insert{At: a.At, Visible: visible, Extra: rawjson.Value(a.Line, "extra")})
	}
	return c
}

// add adds a line before message at. The last of the messages before is that before it, unless
// the new one comes first or last.
func (p *Plan) add(at int, before []choose.Place, line []byte) {
	i := Insertion{At: at, Line: line}
	if len(before) > 0 {
		i.After = before[len(before)-1]
	}
	p.Add = append(p.Add, i)
}

// insertAt returns the index of the message before which one is added; at below 0 is counted
// from the end.
func insertAt(at, messages int) (int, error) {
	index := at
	if at < 0 {
		index += messages
	}
	if index < 0 || index > messages {
		return 0, &choose.OutOfRangeError{At: at, Messages: messages}
	}
	return index, nil
}

// swipeGoes records that a swipe of a message is deleted; both count from 0.
func (p *Plan) swipeGoes(message, swipe int) {
	if p.swipesGone == nil {
		p.swipesGone = map[int][]int{}
	}
	p.swipesGone[message] = append(p.swipesGone[message], swipe)
}

// sorted sorts additions and deletions into the chat's order.
func (p *Plan) sorted() {
	slices.SortStableFunc(p.Add, func(a, b Insertion) int { return cmp.Compare(a.At, b.At) })
	slices.SortFunc(p.Delete, func(a, b choose.Place) int { return cmp.Compare(a.Index, b.Index) })
	p.Delete = slices.CompactFunc(p.Delete, func(a, b choose.Place) bool { return a.Index == b.Index })
}
