package edit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/extension"
	"stchat/internal/extension/luker"
	"stchat/internal/follow"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
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

// floors are Luker's floor logs of one chat.
type floors struct {
	open   *open
	result *Result
	set    *changeset.Set
}

// follow adjusts the logs to messages and swipes that are added and deleted. swiped holds the
// newly chosen swipe of each message where it changes.
func (l floors) follow(ctx context.Context, plan *Plan, change *follow.Change, swiped map[int]int) error {
	if l.open.opt.NoFollow || !l.open.hasLog() || len(change.Gone)+len(change.Inserted)+len(swiped)+len(plan.swipesGone) == 0 {
		return nil
	}
	if l.open.facts == nil {
		if err := l.open.scan(ctx, scanning{moves: true, Choice: choose.Choice{Only: nobody}}, nil); err != nil {
			return err
		}
	}
	before := l.open.facts.Swipes()
	var inserted []int
	for _, a := range plan.Add {
		inserted = append(inserted, swipeOf(a.Line))
	}
	f := &follow.Floors{Change: change, Before: before, After: change.Swipes(before, inserted, swiped), Gone: plan.swipesGone}
	return l.each(func(log luker.Sidecar, file *os.File) error {
		did, err := l.rewrite(log, file, f.Where)
		if err != nil || !did.Changed() && len(swiped) == 0 || l.open.opt.Force {
			return err
		}
		return l.guard(log, file, f)
	})
}

// prune drops the commits that the plan rejects from the floor logs.
func (l floors) prune(ctx context.Context, plan *Plan) error {
	return l.each(func(log luker.Sidecar, file *os.File) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := l.rewrite(log, file, plan.Logs(luker.DataOf(log.Namespace)))
		return err
	})
}

// each calls do with the chat's floor logs, opened one after the other.
func (l floors) each(do func(log luker.Sidecar, file *os.File) error) error {
	for _, s := range l.open.sidecars {
		if s.Kind != luker.FloorLog {
			continue
		}
		file, err := chat.OpenRegular(s.Path)
		if err != nil {
			return ops.PathError(err)
		}
		err = errors.Join(do(s, file), file.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

// rewrite drafts a floor log with its commits moved or dropped as where asks.
func (l floors) rewrite(log luker.Sidecar, file *os.File, where luker.Where) (did luker.Rewritten, err error) {
	was, err := safefile.StampOf(file)
	if err != nil {
		return did, ops.PathError(err)
	}
	draft, err := l.set.Replace(log.Path, was, "Luker's state of the chat")
	if err != nil {
		return did, ops.PathError(err)
	}
	if did, err = luker.Rewrite(draft, file, where); err != nil {
		return did, fmt.Errorf("%s: %w", log.Path, err)
	}
	if !did.Changed() {
		l.set.Drop(draft)
		return did, nil
	}
	l.result.Doc.Sidecars = append(l.result.Doc.Sidecars, ops.Sidecar{Path: log.Path, Action: "changed"})
	l.result.Doc.State = append(l.result.Doc.State, extension.Change{Extension: "luker", Change: fmt.Sprintf("%s: %s moved, %d dropped", luker.DataOf(log.Namespace), plural.S(did.Moved, "commit"), did.Dropped)})
	l.result.Note("%s: %s moved, %d dropped", log.Path, plural.S(did.Moved, "commit"), did.Dropped)
	return did, nil
}

// guard refuses a change after which a floor log would no longer replay, if it did before.
func (l floors) guard(log luker.Sidecar, file *os.File, f *follow.Floors) error {
	active := luker.Active(f.After, -1)
	broken := replays(file, func(c *luker.Commit) bool {
		floor, swipe, keep := f.Where(c)
		return keep && active(&luker.Commit{Floor: floor, Swipe: swipe})
	})
	if broken == nil || replays(file, luker.Active(f.Before, -1)) != nil {
		return nil
	}
	return l.open.errorf("%w: %s: %w", ErrReplay, log.Path, broken)
}

func replays(file *os.File, active func(c *luker.Commit) bool) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := luker.ReplayLog(file, active)
	return err
}
