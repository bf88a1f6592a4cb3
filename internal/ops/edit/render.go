package edit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"math"

	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
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

// read returns which bytes are needed to make the change.
func (c lineChange) read() jsonl.Picked {
	if c.gone || c.edit == nil && !c.follows {
		return jsonl.Picked{}
	}
	return jsonl.Picked{Off: c.place.Off, Len: c.place.Len}
}

// errStop ends a pass whose lines are no longer wanted.
var errStop = errors.New("stop")

// render writes the chat with all changes; header is the new header, nil if it stays.
func (d *drafting) render(ctx context.Context, dst io.Writer, header []byte) error {
	return jsonl.Rewrite(ctx, dst, d.open.chat.Source, func(yield func(jsonl.Edit, error) bool) {
		err := jsonl.Pick(ctx, d.open.chat.Source, d.lines(ctx, header), lineChange.read,
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
			if e.Data, err = d.edited(ctx, c.place.Index, c.edit, line); err != nil {
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
		e.At, e.Len = e.At+e.Len, 0
	}
	if e.Gone || e.Data != nil || e.After != nil {
		*batch = append(*batch, e)
	}
	return nil
}

// lines yields what happens to lines, in the chat's order.
func (d *drafting) lines(ctx context.Context, header []byte) iter.Seq[lineChange] {
	return func(yield func(lineChange) bool) {
		first := choose.Place{Index: chat.HeaderIndex, Off: d.open.chat.HeaderPlace.Off, Len: d.open.chat.HeaderPlace.Len}
		// those with a new header, those that are edited, follow or go
		lists := [4][]choose.Place{1: d.plan.Change, 3: d.plan.Delete}
		if header != nil {
			lists[0] = []choose.Place{first}
		}
		var edits func(index int) Edit
		if len(lists[1]) > 0 {
			edits = d.plan.Edits(ctx)
		}
		if d.state != nil {
			lists[2] = d.state.Lines()
		}
		for add := d.plan.Add; ; {
			c := lineChange{place: choose.Place{Index: math.MaxInt}}
			if len(add) > 0 {
				switch c.place = add[0].After; add[0].At {
				case 0:
					c.place = first
				case d.open.messages:
					c.place = d.open.last
				}
			}
			for _, list := range lists {
				if len(list) > 0 && list[0].Index < c.place.Index {
					c.place = list[0]
				}
			}
			if c.place.Index == math.MaxInt {
				return
			}
			var is [len(lists)]bool
			for i := range lists {
				if is[i] = len(lists[i]) > 0 && lists[i][0].Index == c.place.Index; is[i] {
					lists[i] = lists[i][1:]
				}
			}
			if c.follows, c.gone = is[2], is[3]; is[0] {
				c.header = header
			}
			if is[1] {
				c.edit = edits(c.place.Index)
			}
			for ; len(add) > 0 && add[0].At == c.place.Index+1; add = add[1:] {
				c.after = append(c.after, add[0].Line)
			}
			if !yield(c) {
				return
			}
		}
	}
}
