package edit

import (
	"context"

	"stchat/internal/extension/luker"
	"stchat/internal/follow"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
)

var (
	// ErrQueue means that pending operations of Auto-Recap name messages that move.
	ErrQueue = error(&ops.Kind{Code: "refused", Text: "pending operations of Auto-Recap refer to messages that move", Hint: "wait"})
	// ErrReplay means that a floor log of Luker would no longer replay.
	ErrReplay = error(&ops.Kind{Code: "refused", Text: "a floor log of Luker would no longer replay", Hint: "replay"})
)

// mayMove refuses an edit that would break state which cannot be moved along.
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

// followUp adjusts the state that refers to messages, except what messages themselves hold: the
// state returned describes that part, and is nil if nothing has to follow.
func followUp(ctx context.Context, o *open, r *Result, change *follow.Change, metadata *rawjson.Object) (*follow.State, error) {
	if o.opt.NoFollow || !follow.Matters(change, metadata) {
		return nil, nil
	}
	if err := mayMove(o, change, metadata); err != nil {
		return nil, err
	}
	state, err := follow.Look(ctx, o.source(), change, metadata, o.facts)
	if err != nil {
		return nil, o.errorf("%w", err)
	}
	r.state(state.Metadata(metadata))
	r.lost(state)
	for _, sidecar := range o.sidecars {
		if sidecar.Kind == luker.FloorLog || !change.Moves() {
			continue
		}
		r.Doc.Sidecars = append(r.Doc.Sidecars, ops.Sidecar{Path: sidecar.Path, Action: "left"})
		r.Note("%s: left as it is: only its extension knows what it holds", sidecar.Path)
	}
	return state, nil
}
