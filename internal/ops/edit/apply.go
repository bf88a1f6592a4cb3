package edit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/choose"
)

// Operations is a list of operations of edit --ops. They are parsed when they are read, and again
// for each message: parsed ones would take several times the memory.
type Operations struct {
	name    string // of the list, for messages
	add     []target
	remove  []target
	edit    []target // set, hide, unhide, swipe, test
	meta    []target // operations on the metadata
	taints  bool     // SillyTavern would mark the chat as tainted by one of them
	unnamed bool     // a message to add does not name its speaker
}

// target is a range of messages that an operation names, both ends inclusive. For an added
// message, both are the index before which it comes.
type target struct {
	from, to int32
	line     int32  // of the operation in the list, from 1
	swipe    int32  // that it deletes, from 1; 0: none; -1: it only tests
	raw      []byte // the operation
}

// toEnd is the end of an open range, and the place of a message added at the end.
const toEnd = math.MaxInt32

// ReadOperations reads one JSON object per line. The error of a bad operation names its line in
// the list, which is called name; most wrap [ErrOperation].
func ReadOperations(ctx context.Context, name string, text []byte) (*Operations, error) {
	list := &Operations{name: name}
	var wrong error
	_, err := new(jsonl.Buffer).Each(jsonl.Bytes(text), jsonl.MapOptions{Limit: -1, Keys: jsonl.NewKeys()}, func(l *jsonl.Line) {
		if wrong = cmp.Or(wrong, ctx.Err()); wrong != nil {
			return
		}
		line := int32(l.Number) + 1
		if l.Damage != nil {
			wrong = fmt.Errorf("%w: %s", ErrOperation, l.Damage.Reason)
		} else {
			wrong = list.record(line, text[l.Off:l.Off+int64(len(l.Raw))])
		}

		if wrong != nil {
			wrong = list.errorf(line, wrong)
		}
	})
	return list, cmp.Or(wrong, err)
}

// record adds an operation to its list, with each range of messages that it names.
func (l *Operations) record(line int32, raw []byte) error {
	o, err := parseOperation(raw)
	if err != nil {
		return err
	}
	ranges, swipe := o.ranges, int32(o.swipe.Delete)
	into := &l.edit
	switch o.op {
	case "add":
		into = &l.add
		switch {
		case ranges == nil:
			ranges = []choose.Range{{From: toEnd, To: toEnd}}
		case len(ranges) != 1 || ranges[0].From != ranges[0].To:
			return fmt.Errorf("%w: add takes one place", ErrOperation)
		}
		if _, err := (&speakers{}).completed(o.message, time.Time{}); err != nil {
			return fmt.Errorf("message: %w", err)
		}
		_, named := rawjson.Lookup(o.message, "name")
		l.unnamed = l.unnamed || !named
	case "meta":
		into = &l.meta
		ranges = make([]choose.Range, 1) // it names no message
	case "delete":
		into = &l.remove
	case "test":
		swipe = -1
	}

	changesText := slices.Contains([]string{"add", "delete", "set"}, o.op)
	l.taints = l.taints || changesText || swipe > 0
	for _, r := range ranges {
		*into = append(*into, target{int32(r.From), int32(min(r.To, toEnd)), line, swipe, raw})
	}
	return nil
}

// errorf returns an error about the operation in a line of the list.
func (l *Operations) errorf(line int32, err error) error {
	return fmt.Errorf("%s: line %d: %w", l.name, line, err)
}

// resolved returns the operations with indexes of a chat with that many messages, in the order
// of those indexes. The error is that of the first operation that names a missing message.
func (l *Operations) resolved(messages int) (*Operations, error) {
	list := *l
	wrong, cause := int32(math.MaxInt32), error(nil)
	resolve := func(targets []target, index func(r choose.Range) ([2]int, error)) (resolved []target) {
		resolved = make([]target, 0, len(targets))
		for _, t := range targets {
			r := choose.Range{From: int(t.from), To: int(t.to)}
			if t.to == toEnd {
				r = choose.From(r.From)
			}
			at, err := index(r)
			if err != nil && t.line < wrong {
				wrong, cause = t.line, err
			}
			if t.from, t.to = int32(at[0]), int32(at[1]); t.from <= t.to {
				resolved = append(resolved, t)
			}
		}

		slices.SortStableFunc(resolved, func(a, b target) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.line, b.line)) })
		return resolved
	}

	named := func(r choose.Range) ([2]int, error) { return r.Indexes(messages) }
	list.remove, list.edit = resolve(l.remove, named), resolve(l.edit, named)
	list.add = resolve(l.add, func(r choose.Range) ([2]int, error) {
		if r.From == toEnd {
			return [2]int{messages, messages}, nil
		}
		at, err := insertAt(r.From, messages)
		return [2]int{at, at}, err
	})

	if cause != nil {
		return nil, l.errorf(wrong, cause)
	}
	return &list, nil
}

// BatchOptions says which operations edit --ops runs on a chat.
type BatchOptions struct {
	Options
	Operations *Operations
}

// Apply runs many operations together: all indexes are those of the chat before.
func Apply(ctx context.Context, opt BatchOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		list := opt.Operations
		places, err := o.list(ctx, scanning{moves: len(list.add)+len(list.remove) > 0, speakers: list.unnamed})
		if err == nil {
			list, err = list.resolved(len(places))
		}
		if err != nil {
			return nil, err
		}
		return list.plan(o, places)
	})
}

// plan returns what the operations, which are resolved, do to a chat with its messages at places.
func (l *Operations) plan(o *open, places []choose.Place) (*Plan, error) {
	p := &Plan{Taints: l.taints, Edits: func(ctx context.Context) func(choose.Place) Edit { return l.edits(ctx, o) }}
	edits, removes := opsByMessage{rest: l.edit}, opsByMessage{rest: l.remove}
	for index, at := range places {
		edited, gone := edits.at(index), removes.at(index)
		for _, t := range edited {
			if t.swipe > 0 {
				p.swipeGoes(index, int(t.swipe)-1)
			}
		}

		if len(edited) > 0 {
			p.Change = append(p.Change, at)
		}
		if len(gone) == 0 {
			continue
		}
		p.Delete = append(p.Delete, at)
		for _, t := range slices.Backward(edited) {
			if t.swipe >= 0 {
				return nil, l.errorf(t.line, fmt.Errorf("message %d is deleted by line %d", index, gone[len(gone)-1].line))
			}
		}
	}

	for i, t := range l.add {
		op, err := parseOperation(t.raw)
		if err != nil {
			return nil, err
		}
		line, err := o.speakers.completed(op.message, o.opt.Changes.Now.Add(time.Duration(i)*time.Millisecond))
		if err != nil {
			return nil, l.errorf(t.line, fmt.Errorf("message: %w", err))
		}
		p.add(int(t.from), places[:t.from], line)
	}

	if len(l.meta) > 0 {
		p.Metadata = l.metadata
	}
	return p, nil
}

// edits begins the edits of messages: to each all operations that name it, one after the other.
func (l *Operations) edits(ctx context.Context, o *open) func(at choose.Place) Edit {
	ops := opsByMessage{rest: l.edit}
	return func(at choose.Place) Edit {
		targets := slices.Clone(ops.at(at.Index))
		return func(line []byte) ([]byte, error) {
			for _, t := range targets {
				op, err := parseOperation(t.raw)
				if err == nil {
					line, err = op.edit(o, line)
				}
				if err = cmp.Or(err, ctx.Err()); err != nil {
					return nil, l.errorf(t.line, err)
				}
			}
			return line, nil
		}
	}
}

// metadata applies the operations on the metadata.
func (l *Operations) metadata(metadata []byte) ([]byte, error) {
	d := patch.NewDocument(metadata)
	for _, t := range l.meta {
		o, err := parseOperation(t.raw)
		if err == nil {
			err = d.Change(&o.changes)
		}
		if err != nil {
			return nil, l.errorf(t.line, err)
		}
	}
	return d.Bytes(), nil
}

// opsByMessage finds the operations that name a message.
type opsByMessage struct {
	rest   []target // sorted, not begun yet
	active []target // begun, and not ended before the last message asked for; in the list's order
}

// at returns the operations that name a message, in the list's order, until the next call. Calls
// must be in the chat's order.
func (s *opsByMessage) at(index int) []target {
	s.active = slices.DeleteFunc(s.active, func(t target) bool { return int(t.to) < index })
	for ; len(s.rest) > 0 && int(s.rest[0].from) <= index; s.rest = s.rest[1:] {
		if t := s.rest[0]; int(t.to) >= index {
			behind, _ := slices.BinarySearchFunc(s.active, t.line+1, func(a target, line int32) int { return cmp.Compare(a.line, line) })
			s.active = slices.Insert(s.active, behind, t)
		}
	}
	return s.active
}
