package edit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// Operations is a list of operations of message apply. They are checked when they are read, and
// parsed again for each message: parsed ones would take several times the memory.
type Operations struct {
	name    string // of the list, for messages
	add     []target
	remove  []target
	edit    []target // set, hide, unhide, swipe, test
	meta    []target // operations on the metadata
	taints  bool     // SillyTavern would mark the chat as tainted by one of them
	fromEnd bool     // some number counts from the end
	unnamed bool     // a message to add does not name its speaker
}

// target is a range of messages that an operation names, both ends inclusive. For an added
// message, both are the index before which it comes.
type target struct {
	from, to int32
	line     int32  // of the operation in the list, from 1
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
		t := target{line: int32(l.Number) + 1, raw: text[l.Off : l.Off+int64(len(l.Raw))]}
		if l.Damage != nil {
			wrong = fmt.Errorf("%w: %s", ErrOperation, l.Damage.Reason)
		} else {
			wrong = list.record(t)
		}
		if wrong != nil {
			wrong = list.errorf(t.line, wrong)
		}
	})
	return list, cmp.Or(wrong, err)
}

// record checks an operation and adds it to its list, with each range of messages that it names.
func (l *Operations) record(t target) error {
	o, err := parseOperation(t.raw)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	ranges, err := o.ranges()
	if err != nil {
		return err
	}
	into := &l.edit
	switch o.op {
	case "add":
		into = &l.add
		switch {
		case !o.has(keyAt):
			ranges = []choose.Range{{From: toEnd, To: toEnd}}
		case len(ranges) != 1 || ranges[0].From != ranges[0].To:
			return fmt.Errorf("%w: add takes one place", ErrOperation)
		}
		if _, err := (&speakers{}).completed(o.get(keyMessage), time.Time{}); err != nil {
			return fmt.Errorf("message: %w", err)
		}
		_, named := rawjson.Lookup(o.get(keyMessage), "name")
		l.unnamed = l.unnamed || !named
	case "meta":
		into, ranges = &l.meta, make([]choose.Range, 1)
	case "delete":
		into = &l.remove
	}
	l.taints = l.taints || o.op == "add" || o.op == "delete" || o.op == "set" || o.op == "swipe" && o.has(keyDelete)
	for _, r := range ranges {
		l.fromEnd = l.fromEnd || r.From < 0 || r.To < 0
		t.from, t.to = int32(r.From), int32(min(r.To, toEnd))
		*into = append(*into, t)
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
	fail := func(t *target, err error) {
		if t.line < wrong {
			wrong, cause = t.line, err
		}
	}
	for _, targets := range []*[]target{&list.remove, &list.edit} {
		var kept []target
		for _, t := range *targets {
			r := choose.Range{From: int(t.from), To: int(t.to)}
			if t.to == toEnd {
				r = choose.From(r.From)
			}
			indexes, err := r.Indexes(messages)
			if err != nil {
				fail(&t, err)
			} else if t.from, t.to = int32(indexes[0]), int32(indexes[1]); t.from <= t.to {
				kept = append(kept, t)
			}
		}
		*targets = kept
		byFrom(kept)
	}
	list.add = slices.Clone(list.add)
	for i := range list.add {
		t := &list.add[i]
		at := int(t.from)
		switch {
		case at == toEnd:
			at = messages
		case at < 0:
			at += messages
		}
		if at < 0 || at > messages {
			fail(t, &choose.OutOfRangeError{At: int(t.from), Messages: messages})
		}
		t.from = int32(at)
	}
	if cause != nil {
		return nil, l.errorf(wrong, cause)
	}
	return &list, nil
}

// byFrom sorts targets by the message they begin at, then by their operations.
func byFrom(list []target) {
	slices.SortStableFunc(list, func(a, b target) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.line, b.line)) })
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
