package edit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"math"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
)

// lineChange is all that happens to one line.
type lineChange struct {
	place   choose.Place
	header  []byte // the new header
	edit    Edit   // nil: none
	follows bool   // something in it follows what happens to others
	gone    bool
	after   [][]byte // new lines behind it
}

// needed returns which bytes must be read to make the change.
func (c lineChange) needed() jsonl.Picked {
	isEdited := c.edit != nil || c.follows
	if c.gone || !isEdited {
		return jsonl.Picked{}
	}
	return jsonl.Picked{Off: c.place.Off, Len: c.place.Len}
}

// errStop ends a pass whose lines are no longer wanted.
var errStop = errors.New("stop")

// render writes the chat with all changes; header is the new header, nil if it stays.
func (d *drafting) render(ctx context.Context, dst io.Writer, header []byte) error {
	return jsonl.Rewrite(ctx, dst, d.chat.Source, func(yield func(jsonl.Edit, error) bool) {
		err := jsonl.Pick(ctx, d.chat.Source, d.lines(ctx, header), lineChange.needed,
			func(c lineChange, line []byte, batch *[]jsonl.Edit) error { return d.renderLine(ctx, c, line, batch) },
			func(batch *[]jsonl.Edit) error {
				for _, e := range *batch {
					if !yield(e, nil) {
						return errStop
					}
				}
				return nil
			})
		if err != nil && !errors.Is(err, errStop) {
			yield(jsonl.Edit{}, err)
		}
	})
}

// renderLine adds the changes of one line to a batch.
func (d *drafting) renderLine(ctx context.Context, c lineChange, line []byte, batch *[]jsonl.Edit) (err error) {
	e := jsonl.Edit{Splice: rawjson.Splice{At: c.place.Off, Len: c.place.Len, Data: c.header}, Gone: c.gone, After: c.after}
	if c.edit != nil || c.follows {
		e.Data = line
		if c.edit != nil {
			e.Data, err = d.edited(ctx, c.place.Index, c.edit, line)
			if err != nil {
				return err
			}
		}
		if d.state != nil {
			e.Data = d.state.Line(c.place.Index, e.Data)
		}
		if bytes.Equal(line, e.Data) {
			e.Data = nil
		}
	}

	if e.Data == nil && !e.Gone { // only insert after it
		e.At += e.Len
		e.Len = 0
	}
	if e.Gone || e.Data != nil || e.After != nil {
		*batch = append(*batch, e)
	}
	return nil
}

// lines yields what happens to lines, in the chat's order.
func (d *drafting) lines(ctx context.Context, header []byte) iter.Seq[lineChange] {
	return func(yield func(lineChange) bool) {
		w := d.walk(header)
		var edits func(at choose.Place) Edit
		if len(d.plan.Change) > 0 {
			edits = d.plan.Edits(ctx)
		}
		for {
			place, ok := w.peek()
			if !ok {
				return
			}
			c := lineChange{place: place}
			if takeIfFront(&w.header, place.Index) {
				c.header = header
			}
			if takeIfFront(&w.changed, place.Index) {
				c.edit = edits(place)
			}
			c.follows = takeIfFront(&w.following, place.Index)
			c.gone = takeIfFront(&w.deleted, place.Index)
			c.after = w.takeAddedAfter(place.Index)
			if !yield(c) {
				return
			}
		}
	}
}

// lineWalk goes through the lines to which something happens. It holds what is left of them, each list
// in the chat's order.
type lineWalk struct {
	header    []choose.Place // the header, if there is a new one
	changed   []choose.Place
	following []choose.Place
	deleted   []choose.Place
	added     []Insertion

	first    choose.Place // the header
	last     choose.Place // the last message
	messages int
}

func (d *drafting) walk(header []byte) *lineWalk {
	w := &lineWalk{changed: d.plan.Change, deleted: d.plan.Delete, added: d.plan.Add, last: d.last, messages: d.messages}
	w.first = choose.Place{Index: chat.HeaderIndex, Off: d.chat.HeaderPlace.Off, Len: d.chat.HeaderPlace.Len}
	if header != nil {
		w.header = []choose.Place{w.first}
	}
	if d.state != nil {
		w.following = d.state.Lines()
	}
	return w
}

// peek returns the line that comes first among those that are left, and leaves it in its lists; ok is
// false if none is left.
func (w *lineWalk) peek() (place choose.Place, ok bool) {
	place.Index = math.MaxInt
	if len(w.added) > 0 {
		place = w.before(&w.added[0])
	}
	for _, list := range [...][]choose.Place{w.header, w.changed, w.following, w.deleted} {
		if len(list) > 0 && list[0].Index < place.Index {
			place = list[0]
		}
	}
	return place, place.Index != math.MaxInt
}

// before returns the line behind which a message is added.
func (w *lineWalk) before(a *Insertion) choose.Place {
	switch a.At {
	case 0:
		return w.first
	case w.messages:
		return w.last
	}
	return a.After
}

// takeAddedAfter takes out what is added right behind a line.
func (w *lineWalk) takeAddedAfter(index int) (lines [][]byte) {
	for len(w.added) > 0 && w.added[0].At == index+1 {
		lines = append(lines, w.added[0].Line)
		w.added = w.added[1:]
	}
	return lines
}

// takeIfFront reports whether a list begins with a line, and if so takes it out.
func takeIfFront(list *[]choose.Place, index int) bool {
	if len(*list) == 0 || (*list)[0].Index != index {
		return false
	}
	*list = (*list)[1:]
	return true
}
