package edit

import (
	"context"
	"slices"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/follow"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
)

// drafting turns the plan for one chat into a change set.
type drafting struct {
	open   *open
	plan   *Plan
	result *Result
	set    *changeset.Set

	change *follow.Change // what the plan does to messages
	swiped map[int]int    // the newly chosen swipe, by message, where it changes
	state  *follow.State  // what follows in messages; nil: nothing
}

// draft finds what follows from the plan and drafts all of it.
func (d *drafting) draft(ctx context.Context) error {
	o, r := d.open, d.result
	r.Doc.BytesBefore = o.chat.Source.Size
	r.Doc.Integrity = rawjson.TextOrNil(o.chat.Header.Metadata().Value("integrity"))
	r.Warnings = append(r.Warnings, d.plan.warnings...)
	r.Notes = append(r.Notes, d.plan.notes...)
	for i := range d.plan.Add {
		d.plan.Add[i].Line = withoutGeneration(o, nil, d.plan.Add[i].Line)
	}
	if d.plan.isLines() || o.opt.ExpectMessages >= 0 {
		if _, err := o.count(ctx); err != nil {
			return err
		}
	}
	d.plan.sorted()
	d.change, d.swiped = d.plan.moves(o.messages), map[int]int{}
	lines := d.plan.isLines()
	if err := (&judging{drafting: d}).judge(ctx); err != nil {
		return err
	}
	logs := floors{o, r, d.set}
	r.Swipe = d.plan.swipe
	before := o.chat.Header.Metadata().Bytes()
	if d.plan.Metadata != nil {
		if err := o.chat.Header.Change(func(raw []byte) ([]byte, error) {
			return interruptible(ctx, len(raw), func() ([]byte, error) { return d.plan.Metadata(raw) })
		}); err != nil {
			return o.errorf("%w", err)
		}
		judgeState(o, r, before)
	}
	metadata := o.chat.Header.Metadata()
	if lines {
		var err error
		if d.state, err = followUp(ctx, o, r, d.change, metadata); err != nil {
			return err
		}
		if err := d.recordAddedAndDeleted(); err != nil {
			return err
		}
		if err := logs.follow(ctx, d.plan, d.change, d.swiped); err != nil {
			return err
		}
		left := d.change.Left()
		r.Doc.Messages = &left
	}
	if d.plan.Logs != nil {
		if err := logs.prune(ctx, d.plan); err != nil {
			return err
		}
	}
	edited := d.plan.isLines()
	if d.plan.Taints && edited && string(metadata.Value("tainted")) != "true" {
		metadata.Set("tainted", []byte("true"))
	}
	if !edited && string(metadata.Bytes()) == string(before) {
		return nil // unchanged
	}
	messages, err := o.count(ctx) // a damaged chat is not edited, not even its metadata alone
	if err != nil {
		return err
	}
	if r.Doc.Messages == nil {
		r.Doc.Messages = &messages
	}
	return d.write(ctx, before)
}

// write drafts the chat and Luker's copy of its slug.
func (d *drafting) write(ctx context.Context, before []byte) error {
	c := d.open.chat
	metadata := c.Header.Metadata()
	if d.open.slug != "" {
		d.result.Bumped = true
		metadata.Set("integrity", rawjson.Quote(d.open.slug))
	}
	d.result.Doc.Integrity = rawjson.TextOrNil(metadata.Value("integrity"))
	var header []byte // the new header; nil: unchanged
	if after := metadata.Bytes(); string(after) != string(before) {
		header = c.Header.Bytes()
		if damage := jsonl.Check(header); damage != nil {
			return d.open.errorf("the header would be damaged: %s", damage.Reason)
		}
		if d.open.opt.Changes.DryRun {
			d.result.diff(newDiff(chat.HeaderIndex, before, after))
		}
	}
	if d.plan.Save != "" {
		if err := d.save(ctx); err != nil {
			return err
		}
	}
	draft, err := d.set.Replace(c.Path, c.Stamp, about(d.result))
	if err != nil {
		return err
	}
	if err := d.render(ctx, draft, header); err != nil {
		return err
	}
	if d.open.sync == "" || d.open.slug == "" {
		return nil
	}
	d.result.Doc.Sidecars = append(d.result.Doc.Sidecars, ops.Sidecar{Path: d.open.sync, Action: "fresh"})
	return ops.SyncSlug(d.set, d.open.sync, d.open.slug, d.open.opt.Changes.Now, ops.NewSlug)
}

// recordAddedAndDeleted records the messages that are added and deleted.
func (d *drafting) recordAddedAndDeleted() error {
	doc, gone := &d.result.Doc, 0
	for k, a := range d.plan.Add {
		for gone < len(d.plan.Delete) && d.plan.Delete[gone].Index < a.At {
			gone++
		}
		doc.Added = append(doc.Added, a.At-gone+k)
		if d.open.opt.Changes.DryRun {
			d.result.diff(newDiff(a.At, nil, a.Line))
		}
	}
	for _, at := range d.plan.Delete {
		doc.Deleted = append(doc.Deleted, at.Index)
		if d.open.opt.Changes.DryRun && len(d.result.Diffs) < shownDiffs {
			old, err := d.open.chat.Source.Section(at.Off, at.Len)
			if err != nil {
				return d.open.errorf("%w", err)
			}
			d.result.diff(newDiff(at.Index, old, nil))
		}
	}
	return nil
}

// save drafts a file with the deleted lines.
func (d *drafting) save(ctx context.Context) error {
	if err := ops.JudgeOutput(d.plan.Save, false); err != nil {
		return err
	}
	saved, err := d.set.Create(d.plan.Save, "the messages that go", changeset.Like(d.open.chat.Stamp))
	if err != nil {
		return err
	}
	return jsonl.Pick(ctx, d.open.chat.Source, slices.Values(d.plan.Delete), func(at choose.Place) jsonl.Picked { return jsonl.Picked{Off: at.Off, Len: at.Len} },
		func(_ choose.Place, line []byte, batch *[]byte) error {
			*batch = append(append(*batch, line...), '\n')
			return nil
		}, func(batch *[]byte) error {
			_, err := saved.Write(*batch)
			return err
		})
}
