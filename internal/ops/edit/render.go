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
	"stchat/internal/follow"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// rendering writes a chat with its changes.
type rendering struct {
	*drafting
	chat   *chat.Chat
	header []byte // nil: unchanged
	last   choose.Place
}

// errStop ends a pass whose edits are no longer wanted.
var errStop = errors.New("stop")

// write writes the chat.
func (r *rendering) write(ctx context.Context, dst io.Writer) error {
	return jsonl.Rewrite(ctx, dst, r.chat.Source, func(yield func(jsonl.Edit, error) bool) {
		next, stop := iter.Pull(r.lines())
		defer stop()
		line, ok := next()
		until := func(off int64) error { // what is inserted after a line comes after an edit at its end
			for ; ok && line.At < off; line, ok = next() {
				if !yield(line, nil) {
					return errStop
				}
			}
			return nil
		}
		err := jsonl.Pick(ctx, r.chat.Source, r.editings(), func(e editing) jsonl.Picked { return picked(e.place) }, r.edit, func(batch *[]rawjson.Splice) error {
			for _, s := range *batch {
				if err := until(s.At); err != nil {
					return err
				}
				if !yield(jsonl.Edit{Splice: s}, nil) {
					return errStop
				}
			}
			return nil
		})
		if err == nil {
			err = until(math.MaxInt64)
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(jsonl.Edit{}, err)
		}
	})
}

// edit makes the edit of a message, and what follows in it.
func (r *rendering) edit(e editing, line []byte, batch *[]rawjson.Splice) (err error) {
	after := line
	if e.edit != nil {
		if after, err = edited(r.open, e, line); err != nil {
			return err
		}
	}
	if r.state != nil {
		after = r.state.Line(e.place.Index, after)
	}
	if !bytes.Equal(line, after) {
		s := changeOf(line, after)
		s.At, s.Data = s.At+e.place.Off, bytes.Clone(s.Data)
		*batch = append(*batch, s)
	}
	return nil
}

// editings yields the messages that are edited or in which something follows, in order.
func (r *rendering) editings() iter.Seq[editing] {
	return func(yield func(editing) bool) {
		var follows []follow.Line
		if r.state != nil {
			follows = r.state.Lines()
		}
		until := func(index int) bool {
			for ; len(follows) > 0 && follows[0].Index < index; follows = follows[1:] {
				l := follows[0]
				if !yield(editing{place: choose.Place{Index: l.Index, Off: l.Off, Len: l.Len}}) {
					return false
				}
			}
			return true
		}
		for e := range r.plan.editings() {
			if !until(e.place.Index) || !yield(e) {
				return
			}
			if len(follows) > 0 && follows[0].Index == e.place.Index {
				follows = follows[1:]
			}
		}
		until(math.MaxInt)
	}
}

// lines yields the changes of whole lines, in the chat's order.
func (r *rendering) lines() iter.Seq[jsonl.Edit] {
	return func(yield func(jsonl.Edit) bool) {
		add := r.plan.Add
		behind := func(index int) (list [][]byte) {
			for ; len(add) > 0 && add[0].At == index+1; add = add[1:] {
				list = append(list, add[0].Line)
			}
			return list
		}
		head := r.chat.HeaderPlace
		e := jsonl.Edit{Splice: rawjson.Splice{At: head.Off, Len: head.Len, Data: r.header}}
		if r.header == nil {
			e.At, e.Len = e.At+e.Len, 0
		}
		e.After = behind(chat.HeaderIndex)
		if (r.header != nil || e.After != nil) && !yield(e) {
			return
		}
		gone, anchors, last := r.plan.Delete, r.anchors, []choose.Place{r.last}
		for {
			at := choose.Place{Index: math.MaxInt}
			for _, list := range [][]choose.Place{gone, anchors, last} {
				if len(list) > 0 && list[0].Index < at.Index {
					at = list[0]
				}
			}
			if at.Index == math.MaxInt {
				return
			}
			e := jsonl.Edit{Splice: rawjson.Splice{At: at.Off, Len: at.Len}, Gone: take(&gone, at.Index)}
			take(&anchors, at.Index)
			take(&last, at.Index)
			if !e.Gone { // only insert after it
				e.At, e.Len = e.At+e.Len, 0
			}
			e.After = behind(at.Index)
			if (e.Gone || e.After != nil) && !yield(e) {
				return
			}
		}
	}
}

// take removes a message from the front of a list, and reports whether it was there.
func take(list *[]choose.Place, index int) bool {
	if len(*list) == 0 || (*list)[0].Index != index {
		return false
	}
	*list = (*list)[1:]
	return true
}

// changeOf returns the difference between a line and the edited line as one splice.
func changeOf(line, edited []byte) rawjson.Splice {
	front := common(line, edited, func(b []byte, at, n int) []byte { return b[at : at+n] })
	line, edited = line[front:], edited[front:]
	back := common(line, edited, func(b []byte, at, n int) []byte { return b[len(b)-at-n : len(b)-at] })
	return rawjson.Splice{At: int64(front), Len: int64(len(line) - back), Data: edited[:len(edited)-back]}
}

// common returns how many bytes two texts share; part cuts n bytes at an offset, from the front
// or the back.
func common(a, b []byte, part func(b []byte, at, n int) []byte) int {
	at := 0
	for step := min(len(a), len(b)); step > 0; {
		if step = min(step, len(a)-at, len(b)-at); bytes.Equal(part(a, at, step), part(b, at, step)) {
			at += step
		} else {
			step /= 2
		}
	}
	return at
}
