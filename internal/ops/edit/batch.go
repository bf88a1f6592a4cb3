package edit

import (
	"context"
	"slices"
	"time"

	"stchat/internal/choose"
	"stchat/internal/patch"
)

// BatchOptions says which operations message apply runs on a chat.
type BatchOptions struct {
	Options
	Operations *Operations
}

// Apply runs many operations together: all indexes are those of the chat before.
func Apply(ctx context.Context, opt BatchOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		list := *opt.Operations // each chat resolves the numbers for itself
		for _, targets := range list.lists() {
			if len(opt.Chats) > 1 {
				*targets = slices.Clone(*targets)
			}
		}
		plan := &Plan{Taints: list.taints}
		return (&batch{open: o, list: &list, plan: plan}).all(ctx)
	})
}

// batch collects what the operations ask of one chat.
type batch struct {
	open *open
	list *Operations
	plan *Plan
}

// all plans the operations.
func (b *batch) all(ctx context.Context) (*Plan, error) {
	if err := b.find(ctx); err != nil {
		return nil, err
	}
	if err := b.conflict(); err != nil {
		return nil, err
	}
	for _, t := range b.list.swipeGoes {
		o, err := b.list.at(t.op)
		if err != nil {
			return nil, err
		}
		for i := t.from; i <= t.to; i++ {
			b.plan.swipeGoes(int(i), o.number(keyDelete)-1)
		}
	}
	var speakers cast // read if a message does not name its speaker
	for i, t := range b.list.add {
		o, err := b.list.at(t.op)
		if err != nil {
			return nil, err
		}
		if speakers.last == nil && !o.isNamed() {
			all, err := castOf(ctx, b.open)
			if err != nil {
				return nil, err
			}
			speakers.last, speakers.owner = all.last, all.owner
		}
		line, err := o.message(speakers, b.open.opt.Changes.Now.Add(time.Duration(i)*time.Millisecond))
		if err != nil {
			return nil, b.list.errorf(t.op, "%w", err)
		}
		b.plan.Add = append(b.plan.Add, Insertion{int(t.from), line})
	}
	edits := append(b.list.edit, b.list.test...)
	edits.sort()
	greeting := isGreeting(b.open.messages, b.open.chat.Metadata())
	b.plan.Edits = func() Edits { return (&sweep{list: b.list, opt: &b.open.opt, greeting: greeting, rest: edits}).edit }
	if len(b.list.meta) > 0 {
		b.plan.Metadata = b.metadata
	}
	return b.plan, nil
}

// find locates the messages that the operations name.
func (b *batch) find(ctx context.Context) error {
	l := b.list
	if l.fromEnd {
		messages, err := b.open.count(ctx)
		if err != nil {
			return err
		}
		if err := l.resolve(messages); err != nil {
			return err
		}
	}
	for _, list := range []targets{l.remove, l.edit, l.test} {
		list.sort()
	}
	removes, edits, tests := l.remove.cover(), l.edit.cover(), l.test.cover()
	gone, named := false, false
	only := func(index int) bool {
		edit, test := edits.has(index), tests.has(index)
		gone, named = removes.has(index), edit || test
		return gone || named
	}
	b.plan.Delete = make([]choose.Place, 0, b.room(l.remove.size()))
	scan := b.open.chooseAndCount
	if len(l.add)+len(l.remove) > 0 { // state has to follow
		scan = b.open.survey
	}
	err := scan(ctx, choose.Choice{Only: only}, func(at choose.Place) error {
		if gone {
			b.plan.Delete = append(b.plan.Delete, at)
		}
		if named {
			b.plan.Change = append(b.plan.Change, at)
		}
		return nil
	})
	if err != nil || l.fromEnd {
		return err
	}
	return l.resolve(b.open.messages)
}

// room returns the capacity to reserve where that many messages are named: never more than the
// chat can have.
func (b *batch) room(named int) int {
	const shortest = int64(len(`{}` + "\n"))
	return int(min(int64(named), b.open.chat.Source.Size/shortest))
}

// conflict refuses edits of messages that are also deleted.
func (b *batch) conflict() error {
	edits, removes := &sweep{rest: b.list.edit}, &sweep{rest: b.list.remove}
	for _, at := range b.plan.Delete {
		edited, gone := edits.at(at.Index), removes.at(at.Index)
		if len(edited) > 0 {
			by := gone[len(gone)-1].op
			return b.list.errorf(edited[len(edited)-1].op, "message %d is deleted by line %d", at.Index, b.list.line(by))
		}
	}
	return nil
}

// metadata applies the operations on the metadata.
func (b *batch) metadata(metadata []byte) ([]byte, error) {
	for _, op := range b.list.meta {
		o, err := b.list.at(op)
		if err != nil {
			return nil, err
		}
		var c patch.Changes
		if c, err = o.changes(); err == nil {
			metadata, err = c.Apply(metadata)
		}
		if err != nil {
			return nil, b.list.errorf(op, "%w", err)
		}
	}
	return metadata, nil
}
