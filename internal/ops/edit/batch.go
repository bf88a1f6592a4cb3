package edit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"stchat/internal/choose"
	"stchat/internal/patch"
)

// BatchOptions says what message apply makes of a chat.
type BatchOptions struct {
	Options
	Operations []Operation
}

// Apply makes many operations together: all indexes are those of the chat before.
func Apply(ctx context.Context, opt BatchOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		b := &batch{open: o, plan: &Plan{}, places: map[int]choose.Place{}, gone: map[int]int{}, edited: map[int]int{}}
		return b.plan, b.all(ctx, opt.Operations)
	})
}

// batch collects what operations ask of one chat.
type batch struct {
	open   *open
	plan   *Plan
	places map[int]choose.Place
	gone   map[int]int // line of the operation that deletes a message
	edited map[int]int // and of the last one that edits it
	meta   []patch.Changes
}

// all plans the operations.
func (b *batch) all(ctx context.Context, list []Operation) error {
	messages, err := b.open.count(ctx)
	if err != nil {
		return err
	}
	if err := b.find(ctx, list, messages); err != nil {
		return err
	}
	for i := range list {
		if err := b.one(&list[i], messages); err != nil {
			return fmt.Errorf("line %d: %w", list[i].Line, err)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(b.gone)) {
		if by := b.edited[at]; by > 0 {
			return fmt.Errorf("line %d: message %d is deleted by line %d", by, at, b.gone[at])
		}
	}
	if len(b.meta) > 0 {
		b.plan.Metadata = func(metadata []byte) ([]byte, error) {
			for _, c := range b.meta {
				var err error
				if metadata, err = c.Apply(metadata); err != nil {
					return nil, err
				}
			}
			return metadata, nil
		}
	}
	return nil
}

// find looks up where the messages lie that operations name.
func (b *batch) find(ctx context.Context, list []Operation, messages int) error {
	var ranges []choose.Range
	for _, o := range list {
		if o.op == "add" {
			continue
		}
		for _, r := range o.at {
			if _, err := r.Indexes(messages); err != nil {
				return fmt.Errorf("line %d: %w", o.Line, err)
			}
		}
		ranges = append(ranges, o.at...)
	}
	if len(ranges) == 0 {
		return nil
	}
	return b.open.choose(ctx, choose.Choice{Ranges: ranges}, func(at choose.Place) error {
		b.places[at.Index] = at
		return nil
	})
}

// one plans one operation.
func (b *batch) one(o *Operation, messages int) error {
	switch o.op {
	case "add":
		return b.add(o, messages)
	case "meta":
		c, err := o.changes()
		b.meta = append(b.meta, c)
		return err
	}
	do, err := o.edit(b)
	if err != nil {
		return err
	}
	for _, r := range o.at {
		indexes, err := r.Indexes(messages)
		if err != nil {
			return err
		}
		for i := indexes[0]; i <= indexes[1]; i++ {
			if o.op == "delete" {
				if b.gone[i] == 0 {
					b.plan.Delete = append(b.plan.Delete, b.places[i])
				}
				b.gone[i] = o.Line
				b.plan.Taints = true
				continue
			}
			if o.op != "test" {
				b.edited[i] = o.Line
			}
			b.plan.Taints = b.plan.Taints || o.op == "set"
			b.plan.Change = append(b.plan.Change, Change{b.places[i], do})
			if k := o.swipeGoes(); k > 0 {
				b.plan.swipeGoes(i, k-1)
			}
		}
	}
	return nil
}

// add plans a message that comes.
func (b *batch) add(o *Operation, messages int) error {
	at := messages
	switch {
	case len(o.at) > 1 || len(o.at) == 1 && o.at[0].From != o.at[0].To:
		return fmt.Errorf("%w: add takes one place", ErrOperation)
	case len(o.at) == 1:
		if at = o.at[0].From; at < 0 {
			at += messages
		}
		if at < 0 || at > messages {
			return &choose.OutOfRangeError{At: o.at[0].From, Messages: messages}
		}
	}
	object, _ := o.raw.Get("message")
	line, _, err := (&cast{}).completed(object, b.open.opt.Now)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	b.plan.Add = append(b.plan.Add, Insertion{at, line})
	b.plan.Taints = true
	return nil
}
