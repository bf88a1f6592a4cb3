package edit

import (
	"context"
	"io"
	"iter"
	"math"
	"runtime"

	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// rendering writes a chat with its changes.
type rendering struct {
	chat    *chat.Chat
	header  []byte // nil: unchanged
	plan    *Plan
	made    *splices
	anchors []choose.Place // messages that others are inserted after, other than the chat's last
	last    choose.Place
}

// write writes the chat.
func (r *rendering) write(ctx context.Context, dst io.Writer) error {
	const large = 64 << 20
	if r.chat.Source.Size > large {
		runtime.GC() // else what writes comes on top of what has read
	}
	made := r.made.read()
	return jsonl.Rewrite(ctx, dst, r.chat.Source, func(yield func(jsonl.Edit, error) bool) {
		until := func(off int64) bool {
			for e, ok := made.before(off); ok; e, ok = made.before(off) {
				if !yield(jsonl.Edit{Splice: e}, nil) {
					return false
				}
			}
			return made.err == nil || yield(jsonl.Edit{}, made.err)
		}
		for e := range r.lines() {
			// what is inserted after a line also comes after an edit at its end
			if !until(e.At+1) || !yield(e, nil) {
				return
			}
		}
		until(math.MaxInt64)
	})
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
