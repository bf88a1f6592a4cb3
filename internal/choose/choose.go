package choose

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"stchat/internal/jsonl"
)

// Choice says which messages are meant. The zero Choice is all of them.
type Choice struct {
	Ranges []Range // empty: all
	Filter Filter
	First  int // only so many of what the others choose, from the front; 0: all
	Last   int // only so many from the end; 0: all

	// Only, if not nil, narrows the choice like Ranges: it reports whether a message is
	// chosen. It is called in the messages' order.
	Only func(index int) bool
	// Whole reads on behind the last message that can be meant, so that all are counted.
	Whole bool
}

// All reports whether nothing narrows the choice.
func (c *Choice) All() bool {
	return len(c.Ranges) == 0 && c.Filter.Empty() && c.First == 0 && c.Last == 0 && c.Only == nil
}

// Source is where a chat's messages lie.
type Source struct {
	jsonl.Source
	Body    int64 // offset at which they begin, behind the header
	Line    int   // physical lines before Body
	Workers int   // goroutines at most; 0: as many as processors
}

// Place is where a chosen message lies.
type Place struct {
	Index    int // below 0: not known
	Off, Len int64
	Line     int // physical, from 1; 0: not known
}

// behind returns the place in the chat of a place in a batch that begins at base.
func (p Place) behind(base jsonl.Base) Place {
	p.Index += base.Index
	p.Line += base.Line + 1
	return p
}

// Scanned is what a scan found besides the chosen messages.
type Scanned struct {
	Messages int           // number of messages read
	Chosen   int           // number of messages handed out
	Whole    bool          // the whole chat was read
	Last     Place         // of the last message read; its Len is 0 if there is none
	Damage   jsonl.Damages // of the lines read
}

// errEnough ends a scan early.
var errEnough = errors.New("enough")

var (
	// ErrNone means that no message is chosen.
	ErrNone = errors.New("no message is chosen")
	// ErrNotOne means that several messages are chosen instead of one.
	ErrNotOne = errors.New("choose one message")
)

// One returns the only message that is chosen. The error is that of [Choice.Scan] or
// [ErrNone], or wraps [ErrNotOne].
func (c *Choice) One(ctx context.Context, src Source) (one Place, scanned Scanned, err error) {
	scanned, err = c.Scan(ctx, src, func(p Place) error {
		one = p
		return nil
	})
	switch {
	case err != nil:
	case scanned.Chosen == 0:
		err = ErrNone
	case scanned.Chosen > 1:
		err = fmt.Errorf("%w, not %d", ErrNotOne, scanned.Chosen)
	}
	return one, scanned, err
}

// Scan calls each with the places of the chosen messages, in the chat's order. Unless
// Whole is set, it reads no further than the last message that can be meant. It skips
// damaged lines and does not count them. The error is a [*OutOfRangeError] if a range
// names a message that the chat lacks, that of each, or that of reading.
func (c *Choice) Scan(ctx context.Context, src Source, each func(Place) error) (Scanned, error) {
	messages := -1
	if fromEnd(c.Ranges) {
		counted, err := src.count(ctx)
		if err != nil {
			return Scanned{}, err
		}
		messages = counted
	}
	wanted, err := resolve(c.Ranges, messages)
	if err != nil {
		return Scanned{}, err
	}
	s := &scan{choice: c, each: each, bounded: bound(c.Ranges) >= 0}
	if len(c.Ranges) == 0 {
		wanted = intervals{{0, open}}
	}
	s.walker.rest = wanted
	limit := -1
	if last := wanted.last(); last < open && !c.Whole {
		limit = last + 1
	}
	if err := s.run(ctx, src, limit); err != nil {
		return s.found, err
	}
	if s.found.Whole || limit >= 0 && s.found.Messages < limit {
		if named := bound(c.Ranges); named >= s.found.Messages {
			return s.found, &OutOfRangeError{named, s.found.Messages}
		}
	}
	return s.found, s.finish()
}

// Tail calls each with the places of the chosen messages, in the chat's order, but reads
// from the end of the file and no further than it must. What stands before is neither
// validated nor counted, so the places have no index and no line. The choice must say
// where it begins, with Last or with one range that counts from the end; else the error
// is [ErrNoTail]. Only and Whole do not count.
func (c *Choice) Tail(ctx context.Context, src Source, each func(Place) error) error {
	from, to, err := c.tail()
	if err != nil {
		return err
	}
	for size := int64(tailBlock); ; size *= 4 {
		start, err := lineStart(src, src.Size-size)
		if err != nil {
			return err
		}
		var all []Place // of messages that pass, Index counted from start
		messages := 0
		end := src
		end.Body, end.Line = start, 0
		err = end.lines(ctx, -1, c.Filter.match, func(b *batch, base jsonl.Base, _ jsonl.Damages) error {
			for _, p := range b.places {
				all = append(all, Place{p.Index + base.Index, p.Off, p.Len, 0})
			}
			messages = base.Index + b.lines
			return nil
		})
		if err != nil {
			return err
		}
		whole := start == src.Body
		chosen := slices.DeleteFunc(all, func(p Place) bool { back := p.Index - messages; return back < from || back > to })
		enough := messages >= -from
		if c.Last > 0 {
			enough = enough || len(chosen) >= c.Last
			chosen = chosen[max(0, len(chosen)-c.Last):]
		}
		switch {
		case whole && len(c.Ranges) > 0 && messages < -from:
			return &OutOfRangeError{from, messages}
		case whole || enough:
			return handOut(chosen, c.First, each)
		}
	}
}

// HasTail reports whether [Choice.Tail] can read the choice.
func (c *Choice) HasTail() bool {
	_, _, err := c.tail()
	return err == nil
}

// tail returns the first and the last message that are meant, both counted from the end.
func (c *Choice) tail() (from, to int, err error) {
	switch {
	case len(c.Ranges) == 1 && c.Ranges[0].From < 0 && (c.Ranges[0].To < 0 || c.Ranges[0].toEnd):
		return c.Ranges[0].From, min(-1, c.Ranges[0].To), nil
	case len(c.Ranges) == 0 && c.Last > 0:
		return -open, -1, nil
	}
	return 0, 0, ErrNoTail
}

// count returns the number of messages.
func (src Source) count(ctx context.Context) (int, error) {
	n := 0
	err := src.lines(ctx, -1, nil, func(b *batch, base jsonl.Base, _ jsonl.Damages) error {
		n = base.Index + b.lines
		return nil
	})
	return n, err
}

// batch is what was found in one batch of lines.
type batch struct {
	places []Place // of messages that pass, with index and line counted in the batch
	lines  int     // number of messages
	last   Place   // of the last message, passing or not
}

// lines reads messages, at most limit if that is not below 0, and calls fold with the
// places of those that match lets through.
func (src Source) lines(ctx context.Context, limit int, match func(*jsonl.Line) bool, fold func(*batch, jsonl.Base, jsonl.Damages) error) error {
	return jsonl.Map(ctx, src.Source, jsonl.MapOptions{
		From: src.Body, Line: src.Line, Limit: limit, Keys: lineKeys(), Workers: src.Workers,
	}, func(l *jsonl.Line, b *batch) {
		if l.Damage != nil {
			return
		}
		b.lines++
		b.last = Place{l.Index, l.Off, int64(len(l.Raw)), l.Number}
		if match != nil && match(l) {
			b.places = append(b.places, b.last)
		}
	}, fold, func(b *batch) { *b = batch{places: b.places[:0]} })
}

// scan is one run of [Choice.Scan].
type scan struct {
	choice  *Choice
	each    func(Place) error
	walker  walker
	bounded bool // some range has an end, which the chat must have
	found   Scanned
	last    []Place // a ring of the last messages, if only those are wanted
	next    int     // the ring's oldest element
	held    int     // how many messages were put into it
}

func (s *scan) run(ctx context.Context, src Source, limit int) error {
	err := src.lines(ctx, limit, s.choice.Filter.match, func(b *batch, base jsonl.Base, damage jsonl.Damages) error {
		s.found.Damage.Append(damage)
		if s.found.Messages = base.Index + b.lines; b.lines > 0 {
			s.found.Last = b.last.behind(base)
		}
		for _, p := range b.places {
			p = p.behind(base)
			if !s.walker.has(p.Index) || s.choice.Only != nil && !s.choice.Only(p.Index) {
				continue
			}
			if err := s.take(p); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	s.found.Whole = err == nil && limit < 0
	return err
}

// take handles a message that Ranges, Filter and Only choose.
func (s *scan) take(p Place) error {
	if c := s.choice; c.Last > 0 {
		if len(s.last) < c.Last {
			s.last = append(s.last, p)
		} else {
			s.last[s.next] = p
			s.next = (s.next + 1) % c.Last
		}
		s.held++
		return nil
	}
	return s.give(p)
}

// give calls each with a message, unless First have been handed out. It returns errEnough
// if the scan may end.
func (s *scan) give(p Place) error {
	switch {
	case s.choice.First == 0 || s.found.Chosen < s.choice.First:
	case s.bounded || s.choice.Whole:
		return nil
	default:
		return errEnough
	}
	s.found.Chosen++
	return s.each(p)
}

// finish hands out the ring of last messages.
func (s *scan) finish() error {
	for i := range s.last {
		if err := s.give(s.last[(s.next+i)%len(s.last)]); err != nil {
			if errors.Is(err, errEnough) {
				return nil
			}
			return err
		}
	}
	return nil
}
