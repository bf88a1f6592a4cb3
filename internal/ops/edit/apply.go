package edit

import (
	"cmp"
	"context"
	"fmt"
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
		list := opt.Operations
		if list.fromEnd { // the indexes are known only when the messages are counted
			if _, err := o.count(ctx); err != nil {
				return nil, err
			}
			var err error
			if list, err = list.resolved(o.messages); err != nil {
				return nil, err
			}
		}
		b := &batch{open: o, list: list, plan: &Plan{Taints: list.taints}, before: map[int]choose.Place{}}
		if err := b.find(ctx); err != nil {
			return nil, err
		}
		return b.plan, b.fill()
	})
}

// batch collects what the operations ask of one chat.
type batch struct {
	open   *open
	list   *Operations
	plan   *Plan
	before map[int]choose.Place // the messages that others are added after
}

// find locates the messages that the operations name, and resolves their numbers.
func (b *batch) find(ctx context.Context) error {
	sorted := func(list []target) *opsByMessage {
		list = slices.Clone(list)
		byFrom(list)
		return &opsByMessage{rest: list}
	}
	for _, t := range b.list.add {
		b.before[int(t.from)-1] = choose.Place{}
	}
	edits, removes := sorted(b.list.edit), sorted(b.list.remove)
	var edited, gone, before bool
	s := scanning{moves: len(b.list.add)+len(b.list.remove) > 0, speakers: b.list.unnamed}
	s.Only = func(index int) bool {
		edited, gone = len(edits.at(index)) > 0, len(removes.at(index)) > 0
		_, before = b.before[index]
		return edited || gone || before
	}
	err := b.open.scan(ctx, s, func(at choose.Place) error {
		if gone {
			b.plan.Delete = append(b.plan.Delete, at)
		}
		if edited {
			b.plan.Change = append(b.plan.Change, at)
		}
		if before {
			b.before[at.Index] = at
		}
		return nil
	})
	if err == nil && !b.list.fromEnd {
		b.list, err = b.list.resolved(b.open.messages)
	}
	return err
}

// fill fills in the plan what the operations do to the messages that were found.
func (b *batch) fill() error {
	edits, removes := &opsByMessage{rest: b.list.edit}, &opsByMessage{rest: b.list.remove}
	for _, at := range b.plan.Delete {
		gone := removes.at(at.Index)
		for _, t := range slices.Backward(edits.at(at.Index)) {
			if o, err := parseOperation(t.raw); err != nil || o.op != "test" {
				return b.list.errorf(t.line, fmt.Errorf("message %d is deleted by line %d", at.Index, gone[len(gone)-1].line))
			}
		}
	}
	for _, t := range b.list.edit {
		o, err := parseOperation(t.raw)
		if err != nil {
			return err
		}
		if o.op != "swipe" || !o.has(keyDelete) {
			continue
		}
		for i := t.from; i <= t.to; i++ {
			b.plan.swipeGoes(int(i), o.number(keyDelete)-1)
		}
	}
	for _, t := range b.list.add {
		o, err := parseOperation(t.raw)
		if err != nil {
			return err
		}
		line, err := b.open.speakers.completed(o.get(keyMessage), b.open.opt.Changes.Now.Add(time.Duration(len(b.plan.Add))*time.Millisecond))
		if err != nil {
			return b.list.errorf(t.line, fmt.Errorf("message: %w", err))
		}
		b.plan.Add = append(b.plan.Add, Insertion{int(t.from), b.before[int(t.from)-1], line})
	}
	b.plan.Edits = b.edits
	if len(b.list.meta) > 0 {
		b.plan.Metadata = b.metadata
	}
	return nil
}

// edits begins the edits of the messages: to each all operations that name it, one after the
// other.
func (b *batch) edits(ctx context.Context) func(index int) Edit {
	ops := &opsByMessage{rest: b.list.edit}
	return func(index int) Edit {
		targets := slices.Clone(ops.at(index))
		return func(line []byte) ([]byte, error) {
			for _, t := range targets {
				o, err := parseOperation(t.raw)
				if err == nil {
					line, err = o.edit(b.open, line)
				}
				if err = cmp.Or(err, ctx.Err()); err != nil {
					return nil, b.list.errorf(t.line, err)
				}
			}
			return line, nil
		}
	}
}

// metadata applies the operations on the metadata.
func (b *batch) metadata(metadata []byte) ([]byte, error) {
	d := patch.NewDocument(metadata)
	for _, t := range b.list.meta {
		o, err := parseOperation(t.raw)
		if err != nil {
			return nil, err
		}
		c, err := o.changes()
		if err == nil {
			err = d.Change(&c)
		}
		if err != nil {
			return nil, b.list.errorf(t.line, err)
		}
	}
	return d.Bytes(), nil
}
