package edit

import (
	"context"
	"io"
	"iter"
	"math"

	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// render writes the chat as it is to be; header is nil where that stays.
func (d *drafting) render(ctx context.Context, dst io.Writer, header []byte) error {
	made := d.made.read()
	return jsonl.Rewrite(ctx, dst, d.open.chat.Source, func(yield func(jsonl.Edit, error) bool) {
		until := func(off int64) bool {
			for e, ok := made.before(off); ok; e, ok = made.before(off) {
				if !yield(jsonl.Edit{Splice: e}, nil) {
					return false
				}
			}
			return made.err == nil || yield(jsonl.Edit{}, made.err)
		}
		for e := range d.lines(header) {
			// what comes behind a line comes behind an edit at its end, too
			if !until(e.At+1) || !yield(e, nil) {
				return
			}
		}
		until(math.MaxInt64)
	})
}

// lines yields what happens to whole lines of the chat, in their order.
func (d *drafting) lines(header []byte) iter.Seq[jsonl.Edit] {
	return func(yield func(jsonl.Edit) bool) {
		add := d.plan.Add
		behind := func(index int) (list [][]byte) {
			for ; len(add) > 0 && add[0].At == index+1; add = add[1:] {
				list = append(list, add[0].Line)
			}
			return list
		}
		head := d.open.chat.HeaderPlace
		e := jsonl.Edit{Splice: rawjson.Splice{At: head.Off, Len: head.Len, Data: header}}
		if header == nil {
			e.At, e.Len = e.At+e.Len, 0
		}
		e.After = behind(chat.HeaderIndex)
		if (header != nil || e.After != nil) && !yield(e) {
			return
		}
		gone, anchors, last := d.plan.Delete, d.anchors, []choose.Place{d.open.last}
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
			if !e.Gone { // nothing but what comes behind it
				e.At, e.Len = e.At+e.Len, 0
			}
			e.After = behind(at.Index)
			if (e.Gone || e.After != nil) && !yield(e) {
				return
			}
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
