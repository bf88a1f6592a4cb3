package edit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"stchat/internal/choose"
	"stchat/internal/jsonl"
)

// Operations is a list of operations of message apply. Each is known by where it begins in the
// list, and parsed when it is needed: there may be very many.
type Operations struct {
	name      string // of the list, for messages
	text      []byte
	add       targets
	remove    targets
	edit      targets // set, hide, unhide, swipe
	test      targets
	swipeGoes targets // those in edit that delete a swipe
	meta      []int   // offsets of those on the metadata
	taints    bool    // SillyTavern would mark the chat as tainted by one of the edits
	fromEnd   bool    // some number counts from the end
}

// target is a range of messages that an operation names, both ends inclusive. For an added
// message, both are its place.
type target struct {
	op       int // offset of the operation in the list
	from, to int32
}

// toEnd is the end of an open range, and the place of a message added at the end.
const toEnd = math.MaxInt32

type targets []target

// ReadOperations reads one JSON object per line. The error of a bad operation names its line in
// the list, which is called name; most wrap [ErrOperation].
func ReadOperations(ctx context.Context, name string, src jsonl.Source) (*Operations, error) {
	text, err := src.Section(0, src.Size)
	if err != nil {
		return nil, err
	}
	all := &Operations{name: name, text: text}
	var wrong error
	_, err = new(jsonl.Buffer).Each(jsonl.Bytes(text), jsonl.MapOptions{Limit: -1, Keys: jsonl.NewKeys()}, func(l *jsonl.Line) {
		if wrong != nil {
			return
		}
		if l.Damage != nil {
			wrong = fmt.Errorf("%w: %s", ErrOperation, l.Damage.Reason)
		} else {
			wrong = all.take(int(l.Off), l.Raw)
		}
		if wrong != nil {
			wrong = all.errorf(int(l.Off), "%w", wrong)
		}
	})
	return all, cmp.Or(wrong, err, ctx.Err())
}

// lists returns all lists of targets.
func (l *Operations) lists() []*targets {
	return []*targets{&l.add, &l.remove, &l.edit, &l.test, &l.swipeGoes}
}

// take adds the operation that begins at an offset.
func (l *Operations) take(offset int, line []byte) error {
	o, err := parseOperation(line)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	at, err := o.at()
	if err != nil {
		return err
	}
	switch o.op {
	case "add":
		return l.takeAdd(offset, &o, at)
	case "meta":
		l.meta = append(l.meta, offset)
		c, err := o.changes()
		if err == nil {
			err = checkMeta(&c)
		}
		return err
	case "delete":
		l.remove = l.into(l.remove, offset, at)
		l.taints = true
		return nil
	case "test":
		l.test = l.into(l.test, offset, at)
	default:
		l.edit = l.into(l.edit, offset, at)
	}
	if o.op == "swipe" {
		swipe, err := o.swipe(&Options{})
		if err == nil && swipe.Delete > 0 {
			l.swipeGoes, l.taints = l.into(l.swipeGoes, offset, at), true
		}
		return err
	}
	l.taints = l.taints || o.op == "set"
	_, err = o.edit(nil, false)
	return err
}

// takeAdd adds an add operation.
func (l *Operations) takeAdd(offset int, o *operation, at []choose.Range) error {
	l.taints = true
	switch {
	case !o.has(keyAt):
		l.add = append(l.add, target{offset, toEnd, toEnd})
	case len(at) != 1 || at[0].From != at[0].To:
		return fmt.Errorf("%w: add takes one place", ErrOperation)
	default:
		l.add = l.into(l.add, offset, at)
	}
	_, err := o.message(cast{}, time.Time{})
	return err
}

// into returns list with the ranges of an operation added.
func (l *Operations) into(list targets, op int, ranges []choose.Range) targets {
	for _, r := range ranges {
		l.fromEnd = l.fromEnd || r.From < 0 || r.To < 0
		list = append(list, target{op, int32(r.From), int32(min(r.To, toEnd))})
	}
	return list
}

// at returns the operation that begins at an offset.
func (l *Operations) at(op int) (operation, error) {
	line, _, _ := bytes.Cut(l.text[op:], []byte{'\n'})
	return parseOperation(line)
}

// line returns the number, from 1, of the line in which an operation begins.
func (l *Operations) line(op int) int { return 1 + bytes.Count(l.text[:op], []byte{'\n'}) }

// errorf returns an error about an operation that names its line.
func (l *Operations) errorf(op int, format string, args ...any) error {
	return fmt.Errorf("%s: line %d: "+format, append([]any{l.name, l.line(op)}, args...)...)
}

// resolve turns the numbers of all targets into indexes of a chat with that many messages. The
// error is that of the first operation that names a missing message.
func (l *Operations) resolve(messages int) error {
	wrong, cause := -1, error(nil)
	fail := func(op int, err error) {
		if wrong < 0 || op < wrong {
			wrong, cause = op, err
		}
	}
	for _, list := range l.lists()[1:] {
		kept := (*list)[:0]
		for _, t := range *list {
			r := choose.Range{From: int(t.from), To: int(t.to)}
			if t.to == toEnd {
				r = choose.From(r.From)
			}
			indexes, err := r.Indexes(messages)
			if err != nil {
				fail(t.op, err)
			} else if t.from, t.to = int32(indexes[0]), int32(indexes[1]); t.from <= t.to {
				kept = append(kept, t)
			}
		}
		*list = kept
	}
	for i := range l.add {
		t := &l.add[i]
		at := int(t.from)
		switch {
		case at == toEnd:
			at = messages
		case at < 0:
			at += messages
		}
		if at < 0 || at > messages {
			fail(t.op, &choose.OutOfRangeError{At: int(t.from), Messages: messages})
		}
		t.from = int32(at)
	}
	if wrong >= 0 {
		return l.errorf(wrong, "%w", cause)
	}
	return nil
}

// sort sorts targets by the message they begin at. Those that begin at the same message stay in
// the list's order.
func (t targets) sort() {
	slices.SortFunc(t, func(a, b target) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.op, b.op)) })
}

// size returns how many messages the targets name, without open ranges; a message counts as
// often as it is named.
func (t targets) size() (n int) {
	for _, one := range t {
		if one.to != toEnd && one.to >= one.from {
			n += int(one.to-one.from) + 1
		}
	}
	return n
}

// cover walks over sorted targets.
type cover struct {
	rest targets
	to   int32 // the last message named so far
}

func (t targets) cover() *cover { return &cover{t, -1} }

// has reports whether a message is named. Calls must be in the order of the messages.
func (c *cover) has(index int) bool {
	for len(c.rest) > 0 && int(c.rest[0].from) <= index {
		c.to = max(c.to, c.rest[0].to)
		c.rest = c.rest[1:]
	}
	return index <= int(c.to)
}
