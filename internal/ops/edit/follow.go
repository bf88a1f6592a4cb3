package edit

import (
	"context"
	"errors"
	"slices"

	"stchat/internal/follow"
	"stchat/internal/jsonl"
	"stchat/internal/lorebook"
	"stchat/internal/luker"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
)

var (
	// ErrQueue means that waiting work of Auto-Recap names messages that move.
	ErrQueue = errors.New("waiting operations of Auto-Recap name messages that move")
	// ErrReplay means that a floor log of Luker would no longer replay.
	ErrReplay = errors.New("a floor log of Luker would no longer replay")
)

// mayMove refuses an edit that state would be lost by which nobody here can move.
func mayMove(o *open, change *follow.Change, metadata *rawjson.Object) error {
	first := change.FirstMoved()
	if first < 0 || o.opt.Force {
		return nil
	}
	name, ok := lorebook.NameIn(metadata)
	if !ok || !o.chat.HasDir {
		return nil
	}
	path, err := lorebook.Find(o.chat.Dir.Worlds(), name)
	if err != nil {
		return nil // a book that is not there has no queue
	}
	book, err := lorebook.Open(path)
	if err != nil {
		return o.errorf("its lorebook: %w", ops.PathError(err))
	}
	queue, err := book.Queue()
	if err != nil {
		return err
	}
	for _, op := range queue.Operations {
		for _, at := range op.Messages {
			if op.Pending() && at >= first {
				return o.errorf("%w: %s of message %d in the lorebook %q", ErrQueue, op.Type, at, name)
			}
		}
	}
	return nil
}

// followUp brings what refers to messages in step, and notes the messages that hold such
// state.
func (d *drafting) followUp(ctx context.Context, change *follow.Change, metadata *rawjson.Object) error {
	o, r := d.open, d.result
	if o.opt.NoFollow || !change.Matters(metadata) {
		return nil
	}
	if err := mayMove(o, change, metadata); err != nil {
		return err
	}
	src := o.source()
	state, err := follow.Look(ctx, follow.Source{Source: src.Source, Body: src.Body, Line: src.Line}, change, metadata)
	if err != nil {
		return o.errorf("%w", err)
	}
	r.state(state.Metadata(metadata))
	r.lost(state)
	for _, sidecar := range o.sidecars {
		if sidecar.Kind == luker.FloorLog || !change.Moves() {
			continue
		}
		r.Doc.Sidecars = append(r.Doc.Sidecars, Sidecar{sidecar.Path, "left"})
		r.Note("%s: left as it is: what it holds is known to its extension only", sidecar.Path)
	}
	d.follow = state
	return jsonl.Pick(ctx, src.Source, slices.Values(state.Lines()), func(l follow.Line) jsonl.Picked { return jsonl.Picked{Off: l.Off, Len: l.Len} },
		func(l follow.Line, line []byte, batch *[]follow.Line) error {
			if string(state.Line(l.Index, line)) != string(line) {
				*batch = append(*batch, l)
			}
			return nil
		}, func(batch *[]follow.Line) error {
			d.followed = append(d.followed, *batch...)
			return nil
		})
}
