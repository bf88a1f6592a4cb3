package edit

import (
	"bytes"
	"context"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/extension/follow"
	"stchat/internal/extension/luker"
	"stchat/internal/json/metadiff"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
)

// drafting turns the plan for one chat into a change set.
type drafting struct {
	*open
	plan *Plan
	set  *changeset.Set

	header           []byte // as it was read
	concernsMessages bool   // the plan is not of the metadata alone

	change *follow.Change    // what the plan does to messages
	asked  []metadiff.Change // of the metadata, before anything follows; of a dry run only
	swiped map[int]int       // the newly chosen swipe, by message, where it changes
	state  *follow.State     // what follows in messages; nil: nothing
}

// draft finds what follows from the plan and drafts all of it. The order matters: what is refused is
// refused before anything is drafted, and the header comes last of what is found out, since it is the
// first line of the new file.
func (d *drafting) draft(ctx context.Context) error {
	before := d.chat.Header.Metadata().Bytes()
	d.header = d.chat.Header.Fields().Bytes()
	d.result.Doc.BytesBefore = d.chat.Source.Size
	d.result.Doc.Integrity = rawjson.TextOrNil(d.chat.Header.Metadata().Value("integrity"))
	if err := d.measure(ctx); err != nil {
		return err
	}
	if err := d.judge(ctx); err != nil {
		return err
	}
	if err := d.changeMetadata(ctx, before); err != nil {
		return err
	}
	if d.concernsMessages {
		if err := d.followMessages(ctx); err != nil {
			return err
		}
	}

	d.tellPlaces()
	changesMessages := d.plan.isLines() // what judge has left of the plan
	d.taint(changesMessages)
	if !changesMessages && !d.changesHeader(before) {
		return nil // unchanged
	}
	messages, err := d.count(ctx) // a damaged chat is not edited, not even its metadata alone
	if err != nil {
		return err
	}
	if d.result.Doc.Messages == nil {
		d.result.Doc.Messages = &messages
	}
	return d.write(ctx, before)
}

// measure brings the plan into the chat's order, and finds out which messages it adds and deletes.
func (d *drafting) measure(ctx context.Context) error {
	for i := range d.plan.Add {
		d.plan.Add[i].Line = withoutGeneration(d.open, nil, d.plan.Add[i].Line)
	}
	d.concernsMessages = d.plan.isLines()
	if d.concernsMessages || d.opt.ExpectMessages >= 0 {
		if _, err := d.count(ctx); err != nil {
			return err
		}
	}

	d.plan.sorted()
	d.change = d.plan.moves(d.messages)
	d.swiped = map[int]int{}
	deletesAll := len(d.plan.Delete) > 0 && d.change.Left() == 0
	if deletesAll && !d.opt.Force {
		return d.chat.Errorf("%w", ErrAll)
	}
	return nil
}

// changeMetadata makes the plan's change to the metadata, and warns of errors in what it leaves.
func (d *drafting) changeMetadata(ctx context.Context, before []byte) error {
	if d.plan.Metadata == nil {
		return nil
	}
	change := func(raw []byte) ([]byte, error) {
		return interruptible(ctx, len(raw), func() ([]byte, error) { return d.plan.Metadata(raw) })
	}
	if err := d.chat.Header.Change(change); err != nil {
		return d.chat.Errorf("%w", err)
	}
	if d.showsMore() {
		d.asked = changedKeys(before, d.chat.Header.Metadata().Bytes())
	}
	judgeState(d.open, before)
	judgeBook(d.open, before)
	return nil
}

// followMessages brings all that refers to messages in step with those that are added, deleted and
// changed.
func (d *drafting) followMessages(ctx context.Context) error {
	if err := d.followUp(ctx); err != nil {
		return err
	}
	if err := d.recordAddedAndDeleted(); err != nil {
		return err
	}
	if err := d.followInLogs(ctx); err != nil {
		return err
	}
	left := d.change.Left()
	d.result.Doc.Messages = &left
	return nil
}

// tellPlaces tells in how many places a text was replaced, and in how many it was left.
func (d *drafting) tellPlaces() {
	if d.plan.Found == nil {
		return
	}
	messages, header := d.plan.Found.sum()
	d.result.Places = messages.replaced
	d.result.Header = header.replaced
	if left := messages.left + header.left; left > 0 {
		d.result.Tell(ops.Fact{Kind: ops.FactAddressesKept, Path: d.chat.Label(), Count: left})
	}
	if names := messages.names + header.names; names > 0 {
		d.result.Tell(ops.Fact{Kind: ops.FactNamesKept, Path: d.chat.Label(), Count: names})
	}
}

// taint marks a chat whose messages change as one that is no longer as its greeting made it, where
// SillyTavern would.
func (d *drafting) taint(changesMessages bool) {
	metadata := d.chat.Header.Metadata()
	isTainted := string(metadata.Value("tainted")) == "true"
	if d.plan.Taints && changesMessages && !isTainted {
		metadata.Set("tainted", []byte("true"))
	}
}

// write drafts the chat and Luker's copy of its slug.
func (d *drafting) write(ctx context.Context, before []byte) error {
	header, err := d.newHeader(before)
	if err != nil {
		return err
	}
	if d.plan.Save != "" {
		if err := d.save(ctx); err != nil {
			return err
		}
	}

	if d.plan.Before != nil {
		if err := d.plan.Before(d.set); err != nil {
			return err
		}
	}

	draft, err := d.set.Replace(d.chat.Path, d.chat.Stamp, about(d.result))
	if err != nil {
		return err
	}
	if err := d.guarded(ctx, draft, header); err != nil {
		return err
	}
	return d.syncSlug()
}

// newHeader returns the new header, nil if it stays as it is.
func (d *drafting) newHeader(before []byte) ([]byte, error) {
	metadata := d.chat.Header.Metadata()
	if d.slug != "" {
		d.result.Bumped = true
		metadata.Set("integrity", rawjson.Quote(d.slug))
	}
	d.result.Doc.Integrity = rawjson.TextOrNil(metadata.Value("integrity"))
	if !d.changesHeader(before) {
		return nil, nil
	}
	after := metadata.Bytes()
	changesNames := d.changesNames()
	header := d.chat.Header.Bytes()
	if damage := jsonl.Check(header); damage != nil {
		return nil, d.chat.Errorf("the header would be damaged: %s", damage.Reason)
	}
	switch {
	case !d.showsMore():
	case changesNames:
		d.result.diff(chat.HeaderIndex, d.header, header)
	default:
		d.result.diff(chat.HeaderIndex, before, after)
		last := len(d.result.Diffs) - 1
		d.result.Diffs[last].Asked = d.asked
	}
	return header, nil
}

// changesHeader reports whether the header will be another one; before is its metadata as it was read.
func (d *drafting) changesHeader(before []byte) bool {
	return d.changesNames() || !bytes.Equal(d.chat.Header.Metadata().Bytes(), before)
}

// changesNames reports whether something beside the metadata changes in the header.
func (d *drafting) changesNames() bool {
	return !bytes.Equal(d.chat.Header.Fields().Bytes(), d.header)
}

// syncSlug drafts the chat's new slug where Luker looks first.
func (d *drafting) syncSlug() error {
	if d.slug == "" {
		return nil
	}
	for _, s := range d.sidecars {
		if s.Kind == luker.ChatSync {
			d.result.Doc.Sidecars = append(d.result.Doc.Sidecars, ops.Sidecar{Path: s.Path, Action: "fresh"})
		}
	}
	return ops.SyncSlugs(d.set, d.sidecars, d.slug, d.opt.Changes.Now, ops.NewSlug)
}

// recordAddedAndDeleted records the messages that are added and deleted.
func (d *drafting) recordAddedAndDeleted() error {
	doc := &d.result.Doc
	gone := 0 // messages before the one added that are deleted
	for k, a := range d.plan.Add {
		for gone < len(d.plan.Delete) && d.plan.Delete[gone].Index < a.At {
			gone++
		}
		doc.Added = append(doc.Added, a.At-gone+k)
		if d.showsMore() {
			d.result.diff(a.At, nil, a.Line)
		}
	}

	for _, at := range d.plan.Delete {
		doc.Deleted = append(doc.Deleted, at.Index)
		if d.showsMore() {
			old, err := d.chat.Source.Section(at.Off, at.Len)
			if err != nil {
				return d.chat.Errorf("%w", err)
			}
			d.result.diff(at.Index, old, nil)
		}
	}
	return nil
}

// save drafts a file with the deleted lines.
func (d *drafting) save(ctx context.Context) error {
	if err := ops.JudgeOutput(d.plan.Save, false); err != nil {
		return err
	}
	saved, err := d.set.Create(d.plan.Save, "the messages that go", changeset.Like(d.chat.Stamp))
	if err != nil {
		return err
	}
	whole := func(at choose.Place) jsonl.Picked { return jsonl.Picked{Off: at.Off, Len: at.Len} }
	collect := func(_ choose.Place, line []byte, batch *[]byte) error {
		*batch = append(*batch, line...)
		*batch = append(*batch, '\n')
		return nil
	}

	write := func(batch *[]byte) error {
		_, err := saved.Write(*batch)
		return err
	}
	return jsonl.Pick(ctx, d.chat.Source, slices.Values(d.plan.Delete), whole, collect, write)
}
