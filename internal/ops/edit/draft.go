package edit

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/follow"
	"stchat/internal/jsonl"
	"stchat/internal/luker"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// drafting is a plan for one chat on its way to a change set.
type drafting struct {
	open   *open
	plan   *Plan
	result *Result
	set    *changeset.Set
}

// draft finds what follows from a plan and drafts it.
func (d *drafting) draft(ctx context.Context) error {
	d.result.Doc.BytesBefore = d.open.chat.Source.Size
	d.result.Warnings = append(d.result.Warnings, d.plan.warnings...)
	if d.plan.isLines() || d.open.opt.ExpectMessages >= 0 {
		if _, err := d.open.count(ctx); err != nil {
			return err
		}
	}
	d.plan.sorted()
	edits, err := d.changes(ctx)
	if err != nil {
		return err
	}
	d.result.Swipe = d.plan.swipe
	before := d.open.chat.Header.Metadata().Bytes()
	if d.plan.Metadata != nil {
		if err := d.open.chat.Header.Change(d.plan.Metadata); err != nil {
			return d.open.errorf("%w", err)
		}
	}
	metadata := d.open.chat.Header.Metadata()
	var lines chat.Lines
	for _, e := range edits {
		lines = append(lines, e.LineEdit)
	}
	if change := d.plan.what(d.open.messages, edits); d.plan.isLines() {
		followed, err := followUp(ctx, d.open, d.result, change, metadata)
		if err != nil {
			return err
		}
		lines = append(lines, followed...)
		moved, err := d.comeAndGo(ctx, change)
		if err != nil {
			return err
		}
		lines = append(lines, moved...)
		if err := d.floors(ctx, change, edits); err != nil {
			return err
		}
		left := change.Left()
		d.result.Doc.Messages = &left
	}
	if d.plan.Logs != nil {
		if err := d.prune(ctx); err != nil {
			return err
		}
	}
	if d.plan.Taints && len(lines) > 0 {
		if tainted, _ := metadata.Get("tainted"); string(tainted) != "true" {
			metadata.Set("tainted", []byte("true"))
		}
	}
	if len(lines) == 0 && string(metadata.Bytes()) == string(before) {
		return nil // unchanged
	}
	return d.write(lines, before)
}

// changes makes the edits to see which messages come out different: the others are left
// out. Edits of one message are made in their order.
func (d *drafting) changes(ctx context.Context) ([]changed, error) {
	var list []changed
	slices.SortStableFunc(d.plan.Change, func(a, b Change) int { return cmp.Compare(a.Place.Index, b.Place.Index) })
	for i := 0; i < len(d.plan.Change); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := d.plan.Change[i].Place
		n := 1
		for i+n < len(d.plan.Change) && d.plan.Change[i+n].Place.Index == at.Index {
			n++
		}
		steps := d.plan.Change[i : i+n]
		i += n
		do := func(line []byte) ([]byte, error) {
			for _, s := range steps {
				var err error
				if line, err = s.Do(line); err != nil {
					return nil, err
				}
			}
			return line, nil
		}
		old, err := d.open.chat.Source.Section(at.Off, at.Len)
		if err != nil {
			return nil, d.open.errorf("%w", err)
		}
		edited, err := do(bytes.Clone(old))
		if err != nil {
			return nil, d.open.errorf("message %d: %w", at.Index, err)
		}
		if bytes.Equal(old, edited) {
			continue
		}
		if damage := jsonl.Check(edited); damage != nil {
			return nil, d.open.errorf("message %d would be damaged: %s", at.Index, damage.Reason)
		}
		was, is := isSystem(old), isSystem(edited)
		list = append(list, changed{
			LineEdit: chat.LineEdit{Index: at.Index, Place: jsonl.Place{Off: at.Off, Len: at.Len}, Hash: chat.HashLine(old), Do: do},
			hidden:   !was && is, shown: was && !is,
			swipe: swipeOf(edited), swiped: swipeOf(old) != swipeOf(edited),
			operations: operationsOf(edited), operated: !bytes.Equal(operationsOf(old), operationsOf(edited)),
		})
		d.result.Doc.Changed = append(d.result.Doc.Changed, at.Index)
		d.result.diff(at.Index, old, edited)
	}
	return list, nil
}

// write drafts the chat, and Luker's copy of its slug.
func (d *drafting) write(lines chat.Lines, before []byte) error {
	c := d.open.chat
	metadata := c.Header.Metadata()
	if d.open.slug != "" {
		metadata.Set("integrity", rawjson.Quote(d.open.slug))
	}
	raw, _ := metadata.Get("integrity")
	if slug, ok := rawjson.Unquote(raw); ok {
		d.result.Doc.Integrity = &slug
	}
	if after := metadata.Bytes(); string(after) != string(before) {
		line := c.Header.Bytes()
		if damage := jsonl.Check(line); damage != nil {
			return d.open.errorf("the header would be damaged: %s", damage.Reason)
		}
		old, err := c.Source.Section(c.HeaderSpan.Off, c.HeaderSpan.Len)
		if err != nil {
			return d.open.errorf("%w", err)
		}
		d.result.diff(chat.HeaderIndex, before, after)
		lines = append(chat.Lines{{
			Index: chat.HeaderIndex, Place: jsonl.Place{Off: c.HeaderSpan.Off, Len: c.HeaderSpan.Len}, Hash: chat.HashLine(old),
			Do: func([]byte) ([]byte, error) { return line, nil },
		}}, lines...)
	}
	if d.plan.Save != "" {
		saved, err := d.set.Create(d.plan.Save, "the messages that go", changeset.Like(c.Stamp))
		if err != nil {
			return err
		}
		if _, err := saved.Write(d.result.Removed); err != nil {
			return err
		}
	}
	if err := d.set.Edit(c.Path, c.Stamp, changeset.Joined(lines), about(d.result)); err != nil {
		return err
	}
	if d.open.sync == "" || d.open.slug == "" {
		return nil
	}
	d.result.Doc.Sidecars = append(d.result.Doc.Sidecars, Sidecar{d.open.sync, "fresh"})
	return d.set.Edit(d.open.sync, safefile.Stamp{}, changeset.Bytes(func([]byte) ([]byte, error) {
		return luker.SyncData(d.open.slug, d.open.opt.Now.UnixMilli()), nil
	}), "the chat's new slug, where Luker looks first")
}

// comeAndGo returns the edits for messages that come and go.
func (d *drafting) comeAndGo(ctx context.Context, change *follow.Change) (chat.Lines, error) {
	var lines chat.Lines
	anchors, err := d.anchors(ctx)
	if err != nil {
		return nil, err
	}
	gone := 0
	for k, a := range d.plan.Add {
		for gone < len(change.Gone) && change.Gone[gone] < a.At {
			gone++
		}
		d.result.Doc.Added = append(d.result.Doc.Added, a.At-gone+k)
		d.result.diff(a.At, nil, a.Line)
		e := anchors[a.At-1]
		e.Do, e.After = chat.Keep, [][]byte{a.Line}
		lines = append(lines, e)
	}
	for _, at := range d.plan.Delete {
		old, err := d.open.chat.Source.Section(at.Off, at.Len)
		if err != nil {
			return nil, d.open.errorf("%w", err)
		}
		lines = append(lines, chat.LineEdit{Index: at.Index, Place: jsonl.Place{Off: at.Off, Len: at.Len}, Hash: chat.HashLine(old)})
		d.result.Doc.Deleted = append(d.result.Doc.Deleted, at.Index)
		d.result.diff(at.Index, old, nil)
		if d.plan.Save != "" {
			d.result.Removed = append(append(d.result.Removed, old...), '\n')
		}
	}
	return lines, nil
}

// anchors finds the lines behind which messages come, by index; -1 is the header.
func (d *drafting) anchors(ctx context.Context) (map[int]chat.LineEdit, error) {
	found := map[int]chat.LineEdit{chat.HeaderIndex: {Index: chat.HeaderIndex}}
	anchor := func(at choose.Place) error {
		line, err := d.open.chat.Source.Section(at.Off, at.Len)
		found[at.Index] = chat.LineEdit{Index: at.Index, Place: jsonl.Place{Off: at.Off, Len: at.Len}, Hash: chat.HashLine(line)}
		return err
	}
	var ranges []choose.Range
	for i, a := range d.plan.Add {
		switch last := d.open.last; {
		case a.At == 0 || i > 0 && d.plan.Add[i-1].At == a.At:
		case last.Len > 0 && a.At == last.Index+1: // at the end
			if err := anchor(last); err != nil {
				return nil, err
			}
		default:
			ranges = append(ranges, choose.Range{From: a.At - 1, To: a.At - 1})
		}
	}
	if len(ranges) == 0 {
		return found, nil
	}
	return found, d.open.choose(ctx, choose.Choice{Ranges: ranges}, anchor)
}
