package edit

import (
	"cmp"
	"slices"

	"stchat/internal/choose"
	"stchat/internal/follow"
	"stchat/internal/luker"
	"stchat/internal/message"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// Plan is what is wanted of one chat. All indexes are those before it.
type Plan struct {
	Add      []Insertion
	Change   []choose.Place // messages that may change, in the chat's order, each once
	Edits    Edits
	Texts    Texts // in place of Edits
	Delete   []choose.Place
	Metadata func(metadata []byte) ([]byte, error) // nil: nothing is asked of it

	Taints bool   // SillyTavern would note that the chat is not as its greeting made it
	Save   string // a new file for the lines that go; "" for none

	// Logs says what becomes of the commits of a namespace's floor log; nil: what follows.
	Logs func(namespace string) luker.Where

	relies string // a file that the plan was read from; "" for none
	stamp  safefile.Stamp

	warnings   []string
	swipe      int           // the number of the one that is added
	swipesGone map[int][]int // of a message, from 0, one after the other
}

// Insertion is one message that comes.
type Insertion struct {
	At   int // before the message that has this index; the number of messages: at the end
	Line []byte
}

// Edit returns a message as it is to be. It does not change the line, of which what it
// returns may be a part, and may run beside others.
type Edit func(line []byte) ([]byte, error)

// Edits is asked, in the chat's order, for the edit of each message that may change.
type Edits func(index int) Edit

// Texts returns what puts another text into a message, in all places the same. No state
// refers to it.
type Texts func(line []byte) []rawjson.Splice

// each is one edit of all messages.
func each(edit Edit) Edits { return func(int) Edit { return edit } }

// isLines reports whether messages are concerned, and not the metadata alone.
func (p *Plan) isLines() bool { return len(p.Add)+len(p.Change)+len(p.Delete) > 0 }

// operationsOf returns what a message notes for Luker's variables.
func operationsOf(line []byte) []byte {
	raw, _ := rawjson.Lookup(line, "extra", "var_ops")
	return raw
}

func swipeOf(line []byte) int {
	raw, _ := rawjson.Lookup(line, "swipe_id")
	return luker.Swipe(raw)
}

// moves returns which messages go and come, for the state that follows.
func (p *Plan) moves(messages int) *follow.Change {
	c := &follow.Change{Messages: messages}
	for _, d := range p.Delete {
		c.Gone = append(c.Gone, d.Index)
	}
	for _, a := range p.Add {
		system, _ := rawjson.Lookup(a.Line, "is_system")
		visible := message.Visible(system, func() []byte {
			tools, _ := rawjson.Lookup(a.Line, "extra", "tool_invocations")
			return tools
		})
		c.Inserted = append(c.Inserted, follow.Insert{At: a.At, Visible: visible, Operations: operationsOf(a.Line)})
	}
	return c
}

// swipeGoes notes that a swipe of a message is deleted; both count from 0.
func (p *Plan) swipeGoes(message, swipe int) {
	if p.swipesGone == nil {
		p.swipesGone = map[int][]int{}
	}
	p.swipesGone[message] = append(p.swipesGone[message], swipe)
}

// sorted puts what comes and goes in the chat's order.
func (p *Plan) sorted() {
	slices.SortStableFunc(p.Add, func(a, b Insertion) int { return cmp.Compare(a.At, b.At) })
	slices.SortFunc(p.Delete, func(a, b choose.Place) int { return cmp.Compare(a.Index, b.Index) })
	p.Delete = slices.CompactFunc(p.Delete, func(a, b choose.Place) bool { return a.Index == b.Index })
}
