package edit

import (
	"context"
	"errors"
	"io"
	"math"

	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// step is what happens at one line of the chat.
type step struct {
	place choose.Place // its index is [chat.HeaderIndex] for the header
	edit  Edit         // nil: the line stays
	gone  bool
	after []Insertion // behind it
}

var errStop = errors.New("the writer has ended")

// render writes the chat as it is to be; header is nil where that stays.
func (d *drafting) render(ctx context.Context, dst io.Writer, header []byte) error {
	src := d.open.chat.Source
	return jsonl.Rewrite(ctx, dst, src, func(yield func(jsonl.Edit, error) bool) {
		steps := func(yield func(step) bool) { d.steps(header, yield) }
		err := jsonl.Pick(ctx, src, steps, step.read, d.line, func(batch *[]jsonl.Edit) error {
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

// read returns what of the line is needed to make the step.
func (s step) read() jsonl.Picked {
	if s.edit == nil {
		return jsonl.Picked{Off: s.place.Off}
	}
	return picked(s.place)
}

// line makes a step.
func (d *drafting) line(s step, line []byte, batch *[]jsonl.Edit) error {
	e := jsonl.Edit{Splice: rawjson.Splice{At: s.place.Off, Len: s.place.Len}, Gone: s.gone}
	switch {
	case s.gone:
	case s.edit == nil: // nothing but what comes behind it
		e.At, e.Len = e.At+e.Len, 0
	default:
		var err error
		if e.Data, err = s.edit(line); err != nil {
			return d.open.errorf("message %d: %w", s.place.Index, err)
		}
		if len(e.Data) > 0 && &e.Data[0] == &line[0] {
			e.Data = append([]byte(nil), e.Data...) // the line is read over
		}
	}
	for _, a := range s.after {
		e.After = append(e.After, a.Line)
	}
	*batch = append(*batch, e)
	return nil
}

// steps yields what happens to the lines of the chat, in their order.
func (d *drafting) steps(header []byte, yield func(step) bool) {
	c := d.open.chat
	add := d.plan.Add
	behind := func(index int) (list []Insertion) {
		n := 0
		for n < len(add) && add[n].At == index+1 {
			n++
		}
		list, add = add[:n], add[n:]
		return list
	}
	head := step{place: choose.Place{Index: chat.HeaderIndex, Off: c.HeaderPlace.Off, Len: c.HeaderPlace.Len}, after: behind(chat.HeaderIndex)}
	if header != nil {
		head.edit = func([]byte) ([]byte, error) { return header, nil }
	}
	if (head.edit != nil || head.after != nil) && !yield(head) {
		return
	}
	change, gone, anchors, followed := d.plan.Change, d.plan.Delete, d.anchors, d.followed
	edit := func(int) Edit { return nil }
	if len(change) > 0 {
		edit = d.plan.Edits()
	}
	last := []choose.Place{d.open.last}
	for {
		s := step{place: choose.Place{Index: math.MaxInt}}
		for _, list := range [][]choose.Place{change, gone, anchors, last} {
			if len(list) > 0 && list[0].Index < s.place.Index {
				s.place = list[0]
			}
		}
		if len(followed) > 0 && followed[0].Index < s.place.Index {
			s.place = choose.Place{Index: followed[0].Index, Off: followed[0].Off, Len: followed[0].Len}
		}
		at := s.place.Index
		if at == math.MaxInt {
			return
		}
		if take(&change, at) {
			s.edit = edit(at)
		}
		s.gone = take(&gone, at)
		take(&anchors, at)
		take(&last, at)
		if len(followed) > 0 && followed[0].Index == at {
			followed = followed[1:]
			s.edit = d.following(at, s.edit)
		}
		s.after = behind(at)
		if (s.edit != nil || s.gone || len(s.after) > 0) && !yield(s) {
			return
		}
	}
}

// take takes a message off the front of a list, where it is there.
func take(list *[]choose.Place, index int) bool {
	if len(*list) == 0 || (*list)[0].Index != index {
		return false
	}
	*list = (*list)[1:]
	return true
}

// following is an edit, or none, and what state in the message follows.
func (d *drafting) following(index int, edit Edit) Edit {
	return func(line []byte) (_ []byte, err error) {
		if edit != nil {
			if line, err = edit(line); err != nil {
				return nil, err
			}
		}
		return d.follow.Line(index, line), nil
	}
}
