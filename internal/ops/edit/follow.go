package edit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/extension/follow"
	"stchat/internal/extension/luker"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/plural"
)

var (
	// ErrQueue means that pending operations of Auto-Recap name messages that move.
	ErrQueue = error(&ops.Kind{Code: "refused", Text: "pending operations of Auto-Recap refer to messages that move", Hint: "wait"})
	// ErrReplay means that Luker could not read its own log after this.
	ErrReplay = error(&ops.Kind{Code: "refused", Text: "Luker could not read its own log after this", Hint: "replay"})
)

// mayMove refuses an edit that would break state which cannot be moved along.
func (d *drafting) mayMove() error {
	first := d.change.FirstMoved()
	if first < 0 || d.opt.Force {
		return nil
	}
	name, ok := lorebook.NameIn(d.chat.Header.Metadata())
	if !ok || !d.chat.HasDir {
		return nil
	}
	path, err := lorebook.Find(d.chat.Dir.Worlds(), name)
	if err != nil {
		return nil // a book that is not there has no queue
	}
	book, err := lorebook.Open(path)
	if err != nil {
		return d.chat.Errorf("its lorebook: %w", ops.PathError(err))
	}
	queue, err := book.Queue()
	if err != nil {
		return err
	}
	op, at := waitingFor(queue, first)
	if op != nil {
		return d.chat.Errorf("%w: %s of message %d in the lorebook %q", ErrQueue, op.Type, at, name)
	}
	return nil
}

// waitingFor returns the first pending operation of a queue that refers to a message at or behind
// first, and which message that is; nil if there is none.
func waitingFor(queue []lorebook.Operation, first int) (*lorebook.Operation, int) {
	for i := range queue {
		op := &queue[i]
		if !op.Pending() {
			continue
		}
		for _, at := range op.Messages {
			if at >= first {
				return op, at
			}
		}
	}
	return nil, 0
}

// followUp adjusts the state that refers to messages, except what messages themselves hold, which is
// left to d.state, and reports what changes, what is lost with deleted messages, and what stays.
func (d *drafting) followUp(ctx context.Context) (err error) {
	metadata := d.chat.Header.Metadata()
	if !follow.Matters(d.change, metadata) {
		return nil
	}
	if err := d.mayMove(); err != nil {
		return err
	}
	d.state, err = follow.Look(ctx, choose.SourceOf(d.chat), d.change, metadata, d.facts)
	if err != nil {
		return d.chat.Errorf("%w", err)
	}
	r := d.result
	r.Doc.State = append(r.Doc.State, d.state.Metadata(metadata)...)
	for _, l := range d.state.Lost() {
		r.Doc.LostLinks = append(r.Doc.LostLinks, l)
		r.WarnOf(ops.Fact{Kind: ops.FactLostLink, Path: r.Doc.Path, Name: l.Name}, "%s: the link to the %s %q is deleted with message %d", r.Doc.Path, l.Kind, l.Name, l.At)
	}

	for _, text := range d.state.Warnings() {
		r.Warn("%s: %s", r.Doc.Path, text)
	}
	for _, sidecar := range d.sidecars {
		if sidecar.Kind == luker.FloorLog || sidecar.Kind == luker.ChatSync || !d.change.Moves() {
			continue
		}
		r.Doc.Sidecars = append(r.Doc.Sidecars, ops.Sidecar{Path: sidecar.Path, Action: "left"})
		r.Tell(ops.Fact{Kind: ops.FactSidecarLeft, Path: sidecar.Path})
	}
	return nil
}

// followInLogs adjusts Luker's floor logs of the chat to messages and swipes that are added and
// deleted.
func (d *drafting) followInLogs(ctx context.Context) error {
	comeOrGo := len(d.change.Gone) + len(d.change.Inserted) + len(d.plan.swipesGone)
	if !d.hasLog() || comeOrGo+len(d.swiped) == 0 {
		return nil
	}
	if d.facts == nil {
		if err := d.scan(ctx, scanning{moves: true, Choice: choose.Choice{Only: nobody}}, nil); err != nil {
			return err
		}
	}

	before := d.facts.Swipes()
	var inserted []int
	for _, a := range d.plan.Add {
		inserted = append(inserted, luker.Swipe(rawjson.Value(a.Line, "swipe_id")))
	}
	f := &follow.Floors{Change: d.change, Before: before, After: d.change.Swipes(before, inserted, d.swiped), Gone: d.plan.swipesGone}
	return d.eachLog(func(log luker.Sidecar, file *os.File) error {
		did, err := d.rewriteLog(log, file, f.Where)
		if err != nil || d.opt.Force {
			return err
		}
		if !did.Changed() && len(d.swiped) == 0 {
			return nil
		}
		return d.guardLog(log, file, f)
	})
}

// eachLog calls do with the chat's floor logs, opened one after the other.
func (d *drafting) eachLog(do func(log luker.Sidecar, file *os.File) error) error {
	for _, s := range d.sidecars {
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

// rewriteLog drafts a floor log with its commits moved or dropped as where asks.
func (d *drafting) rewriteLog(log luker.Sidecar, file *os.File, where luker.Where) (did luker.Rewritten, err error) {
	was, err := safefile.StampOf(file)
	if err != nil {
		return did, ops.PathError(err)
	}
	draft, err := d.set.Replace(log.Path, was, "Luker's state of the chat")
	if err != nil {
		return did, ops.PathError(err)
	}
	did, err = luker.Rewrite(draft, file, where)
	if err != nil {
		return did, fmt.Errorf("%s: %w", log.Path, err)
	}
	if !did.Changed() {
		d.set.Drop(draft)
		return did, nil
	}
	d.result.Doc.Sidecars = append(d.result.Doc.Sidecars, ops.Sidecar{Path: log.Path, Action: "changed"})
	d.result.Doc.State = append(d.result.Doc.State, extension.Change{
		Extension: "luker", Change: fmt.Sprintf("%s: %s moved, %d dropped", luker.DataOf(log.Namespace), plural.S(did.Moved, "commit"), did.Dropped),
		What: extension.Followed, Things: "commit", Count: did.Moved, Of: did.Dropped,
	})
	return did, nil
}

// guardLog refuses a change after which a floor log would no longer replay, if it did before.
func (d *drafting) guardLog(log luker.Sidecar, file *os.File, f *follow.Floors) error {
	active := luker.Active(f.After, -1)
	broken := replays(file, func(c *luker.Commit) bool {
		floor, swipe, keep := f.Where(c)
		return keep && active(&luker.Commit{Floor: floor, Swipe: swipe})
	})
	if broken == nil || replays(file, luker.Active(f.Before, -1)) != nil {
		return nil
	}
	return d.chat.Errorf("%w: %s: %w", ErrReplay, log.Path, broken)
}

func replays(file *os.File, active func(c *luker.Commit) bool) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := luker.ReplayLog(file, active)
	return err
}
