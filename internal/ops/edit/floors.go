package edit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"stchat/internal/chat"
	"stchat/internal/follow"
	"stchat/internal/luker"
	"stchat/internal/ops"
	"stchat/internal/plural"
	"stchat/internal/safefile"
)

// floors brings Luker's floor logs in step with messages that come and go and with swipes.
func (d *drafting) floors(ctx context.Context, change *follow.Change) error {
	edited := d.swiped
	if d.open.opt.NoFollow || !d.open.hasLog() || len(change.Gone)+len(change.Inserted)+len(edited)+len(d.plan.swipesGone) == 0 {
		return nil
	}
	src := d.open.source()
	before, _, err := luker.Swipes(ctx, src.Source, src.Body, src.Line)
	if err != nil {
		return d.open.errorf("%w", err)
	}
	var inserted []int
	for _, a := range d.plan.Add {
		inserted = append(inserted, swipeOf(a.Line))
	}
	f := &follow.Floors{Change: change, Before: before, After: change.Swipes(before, inserted, edited), Gone: d.plan.swipesGone}
	return d.eachLog(func(log luker.Sidecar, file *os.File) error {
		did, err := d.rewrite(log, file, f.Where)
		if err != nil || !did.Changed() && len(edited) == 0 || d.open.opt.Force {
			return err
		}
		return d.guard(log, file, f)
	})
}

// prune drops what the plan says from the floor logs.
func (d *drafting) prune(ctx context.Context) error {
	return d.eachLog(func(log luker.Sidecar, file *os.File) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := d.rewrite(log, file, d.plan.Logs(luker.DataOf(log.Namespace)))
		return err
	})
}

func (o *open) hasLog() bool {
	for _, s := range o.sidecars {
		if s.Kind == luker.FloorLog {
			return true
		}
	}
	return false
}

// eachLog opens the floor logs of the chat, one after the other.
func (d *drafting) eachLog(do func(log luker.Sidecar, file *os.File) error) error {
	for _, s := range d.open.sidecars {
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

// rewrite drafts a floor log with its commits where they belong.
func (d *drafting) rewrite(log luker.Sidecar, file *os.File, where luker.Where) (did luker.Rewritten, err error) {
	was, err := safefile.StampOf(file)
	if err != nil {
		return did, ops.PathError(err)
	}
	draft, err := d.set.Replace(log.Path, was, "Luker's state of the chat")
	if err != nil {
		return did, ops.PathError(err)
	}
	if did, err = luker.Rewrite(draft, file, where); err != nil {
		return did, fmt.Errorf("%s: %w", log.Path, err)
	}
	if !did.Changed() {
		d.set.Drop(draft)
		return did, nil
	}
	d.result.Doc.Sidecars = append(d.result.Doc.Sidecars, Sidecar{log.Path, "changed"})
	d.result.Doc.State = append(d.result.Doc.State, StateChange{"luker", fmt.Sprintf("%s: %s moved, %d dropped", luker.DataOf(log.Namespace), plural.S(did.Moved, "commit"), did.Dropped)})
	d.result.Note("%s: %s moved, %d dropped", log.Path, plural.S(did.Moved, "commit"), did.Dropped)
	return did, nil
}

// guard refuses a change after which a floor log does not replay that did before.
func (d *drafting) guard(log luker.Sidecar, file *os.File, f *follow.Floors) error {
	active := luker.Active(f.After, -1)
	broken := replays(file, func(c *luker.Commit) bool {
		floor, swipe, keep := f.Where(c)
		return keep && active(&luker.Commit{Floor: floor, Swipe: swipe})
	})
	if broken == nil || replays(file, luker.Active(f.Before, -1)) != nil {
		return nil
	}
	return d.open.errorf("%w: %s: %w", ErrReplay, log.Path, broken)
}

func replays(file *os.File, active func(c *luker.Commit) bool) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := luker.ReplayLog(file, active)
	return err
}
