package edit

import (
	"context"

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

	grown   int64          // bytes that the edits of messages add, less those they remove
	state   *follow.State  // what follows in messages; nil: nothing
	anchors []choose.Place // messages that others are inserted after, other than the chat's last
}

// draft finds what follows from the plan and drafts all of it.
func (d *drafting) draft(ctx context.Context) error {
	d.result.Doc.BytesBefore = d.open.chat.Source.Size
	d.result.Doc.Integrity = rawjson.TextOrNil(d.open.chat.Header.Metadata().Value("integrity"))
	d.result.Warnings = append(d.result.Warnings, d.plan.warnings...)
	d.result.Notes = append(d.result.Notes, d.plan.notes...)
	for i := range d.plan.Add {
		d.plan.Add[i].Line = withoutGeneration(d.open, nil, d.plan.Add[i].Line)
	}
	if d.plan.isLines() || d.open.opt.ExpectMessages >= 0 {
		if _, err := d.open.count(ctx); err != nil {
			return err
		}
	}
	d.plan.sorted()
	change := d.plan.moves(d.open.messages)
	lines := d.plan.isLines()
	edits := &judging{open: d.open, plan: d.plan, result: d.result, change: change}
	if err := edits.judge(ctx); err != nil {
		return err
	}
	d.grown = edits.grown
	logs := floors{d.open, d.result, d.set}
	d.result.Swipe = d.plan.swipe
	before := d.open.chat.Header.Metadata().Bytes()
	if d.plan.Metadata != nil {
		if err := d.open.chat.Header.Change(d.plan.Metadata); err != nil {
			return d.open.errorf("%w", err)
		}
		judgeState(d.open, d.result, before)
	}
	metadata := d.open.chat.Header.Metadata()
	if lines {
		var err error
		if d.state, err = followUp(ctx, d.open, d.result, change, metadata); err != nil {
			return err
		}
		if err := d.comeAndGo(ctx, change); err != nil {
			return err
		}
		if err := logs.follow(ctx, d.plan, change, edits.swiped); err != nil {
			return err
		}
		left := change.Left()
		d.result.Doc.Messages = &left
	}
	if d.plan.Logs != nil {
		if err := logs.prune(ctx, d.plan); err != nil {
			return err
		}
	}
	edited := d.plan.isLines()
	if d.plan.Taints && edited {
		if string(metadata.Value("tainted")) != "true" {
			metadata.Set("tainted", []byte("true"))
		}
	}
	if !edited && string(metadata.Bytes()) == string(before) {
		return nil // unchanged
	}
	messages, err := d.open.count(ctx) // a damaged chat is not edited, not even its metadata alone
	if err != nil {
		return err
	}
	if d.result.Doc.Messages == nil {
		d.result.Doc.Messages = &messages
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
	if d.open.opt.Changes.DryRun && d.state == nil && len(d.plan.Add)+len(d.plan.Delete) == 0 {
		size := c.Source.Size + d.grown
		if header != nil {
			size += int64(len(header)) - c.HeaderPlace.Len
		}
		err = draft.Count(size)
	} else {
		err = (&rendering{drafting: d, chat: c, header: header, last: d.open.last}).write(ctx, draft)
	}
	if err != nil {
		return err
	}
	if d.open.sync == "" || d.open.slug == "" {
		return nil
	}
	d.result.Doc.Sidecars = append(d.result.Doc.Sidecars, ops.Sidecar{Path: d.open.sync, Action: "fresh"})
	return ops.SyncSlug(d.set, d.open.sync, d.open.slug, d.open.opt.Changes.Now, ops.NewSlug)
}

// comeAndGo records the messages that are added and deleted, and locates the lines that some
// are inserted after.
func (d *drafting) comeAndGo(ctx context.Context, change *follow.Change) error {
	gone := 0
	for k, a := range d.plan.Add {
		for gone < len(change.Gone) && change.Gone[gone] < a.At {
			gone++
		}
		d.result.Doc.Added = append(d.result.Doc.Added, a.At-gone+k)
		if d.open.opt.Changes.DryRun {
			d.result.diff(newDiff(a.At, nil, a.Line))
		}
	}
	for _, at := range d.plan.Delete {
		d.result.Doc.Deleted = append(d.result.Doc.Deleted, at.Index)
		if d.open.opt.Changes.DryRun && len(d.result.Diffs) < shownDiffs {
			old, err := d.open.chat.Source.Section(at.Off, at.Len)
			if err != nil {
				return d.open.errorf("%w", err)
			}
			d.result.diff(newDiff(at.Index, old, nil))
		}
	}
	var ranges []choose.Range
	for i, a := range d.plan.Add {
		if a.At > 0 && a.At <= d.open.last.Index && (i == 0 || d.plan.Add[i-1].At != a.At) {
			ranges = append(ranges, choose.Range{From: a.At - 1, To: a.At - 1})
		}
	}
	switch anchor := d.open.anchor; {
	case len(ranges) == 0:
		return nil
	case len(ranges) == 1 && anchor.Len > 0 && anchor.Index == ranges[0].From:
		d.anchors = append(d.anchors, anchor)
		return nil
	}
	return d.open.choose(ctx, choose.Choice{Ranges: ranges}, func(at choose.Place) error {
		d.anchors = append(d.anchors, at)
		return nil
	})
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
	lines := func(yield func(choose.Place) bool) {
		for _, at := range d.plan.Delete {
			if !yield(at) {
				return
			}
		}
	}
	return jsonl.Pick(ctx, d.open.chat.Source, lines, picked, func(_ choose.Place, line []byte, batch *[]byte) error {
		*batch = append(append(*batch, line...), '\n')
		return nil
	}, func(batch *[]byte) error {
		_, err := saved.Write(*batch)
		return err
	})
}
