package choose

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"stchat/internal/jsonl"
)

// Beside is what else is read of every message that a scan reads. The zero Beside is nothing.
type Beside[T any] struct {
	Keys []string // those whose values are wanted
	// Read adds what a message says to the result of its batch; keys are the numbers that
	// Keys have in the line. It runs in several goroutines.
	Read func(l *jsonl.Line, keys []int, result *T)
	// Fold takes the results in the chat's order, each before the messages of its batch are
	// handed out.
	Fold  func(result *T)
	Reset func(result *T) // clears a result for the next batch
}

// ScanBeside is [Choice.Scan] and reads something else of the same messages. If an index counts
// from the end, they are counted first, unless Whole is set and the index is near the end.
func ScanBeside[T any](ctx context.Context, c *Choice, src Source, each func(Place) error, also Beside[T]) (Scanned, error) {
	ranges := c.Ranges
	if c.Clip {
		ranges = clipped(ranges)
	}
	s := &scan{choice: c, each: each, ranges: ranges, bounded: bound(c.Ranges) >= 0}

	messages := -1 // not known
	back := fromEnd(ranges)
	switch {
	case back == 0:
	case back <= maxBack && c.Whole: // all is read anyway
		s.back = back
		ranges = beforeBack(ranges)
	default:
		counted, err := src.count(ctx)
		if err != nil {
			return Scanned{}, err
		}
		messages = counted
	}

	wanted, err := resolve(ranges, messages)
	if err != nil {
		return Scanned{}, err
	}
	if len(c.Ranges) == 0 {
		wanted = intervals{{0, open}}
	}
	s.walker.rest = wanted

	limit := -1
	readsOn := c.Whole || messages >= 0 // counted from the end, damage behind it counts, too
	if last := wanted.last(); last < open && !readsOn {
		limit = last + 1
	}
	if err := run(ctx, s, src, limit, also); err != nil {
		return s.found, err
	}
	if err := s.decide(); err != nil {
		return s.found, err
	}

	reachedEnd := s.found.Whole || limit >= 0 && s.found.Messages < limit
	if reachedEnd {
		if named := bound(c.required()); named >= s.found.Messages {
			return s.found, &OutOfRangeError{named, s.found.Messages}
		}
		s.found.Clipped = bound(c.Ranges) >= s.found.Messages
	}
	return s.found, s.finish()
}

// count returns the number of messages.
func (src Source) count(ctx context.Context) (int, error) {
	n := 0
	err := lines(ctx, src, -1, nil, Beside[struct{}]{}, func(b *batch[struct{}], base jsonl.Base, _ jsonl.Damages) error {
		n = base.Index + b.lines
		return nil
	})
	return n, err
}

// batch is what was found in one batch of lines.
type batch[T any] struct {
	places []Place // of messages that pass, with the index in the batch
	lines  int     // number of messages
	last   Place   // of the last message, passing or not
	also   T
}

// lines reads messages, at most limit if that is not below 0, and calls fold with the
// places of those that match lets through.
func lines[T any](ctx context.Context, src Source, limit int, match func(*jsonl.Line) bool, also Beside[T], fold func(*batch[T], jsonl.Base, jsonl.Damages) error) error {
	names := lineKeys()
	keys := make([]int, len(also.Keys))
	for i, name := range also.Keys {
		keys[i] = slices.Index(names, name)
		if isNew := keys[i] < 0; isNew {
			keys[i] = len(names)
			names = append(names, name)
		}
	}

	read := func(l *jsonl.Line, b *batch[T]) {
		if l.Damage != nil {
			return
		}
		b.lines++
		b.last = Place{l.Index, l.Off, int64(len(l.Raw))}
		if match != nil && match(l) {
			b.places = append(b.places, b.last)
		}
		if also.Read != nil {
			also.Read(l, keys, &b.also)
		}
	}

	reset := func(b *batch[T]) {
		if also.Reset != nil {
			also.Reset(&b.also)
		}
		*b = batch[T]{places: b.places[:0], also: b.also}
	}

	opt := jsonl.MapOptions{
		From:     src.Body,
		Line:     src.Line,
		Limit:    limit,
		Keys:     jsonl.NewKeys(names...),
		Workers:  src.Workers,
		Progress: src.Progress,
	}
	return jsonl.Map(ctx, src.Source, opt, read, fold, reset)
}

// scan is one run of [Choice.Scan].
type scan struct {
	choice  *Choice
	ranges  []Range // of the choice, clipped if it says so
	each    func(Place) error
	walker  walker
	bounded bool // some range has an end, which the chat must have
	back    int  // how far from the end an index counts, if that is not known meanwhile
	found   Scanned

	undecided []Place // of messages that are, or may be, among the last back ones
	last      []Place // a ring of the last messages, if only those are wanted
	next      int     // the ring's oldest element
	held      int     // how many messages were put into it
}

func run[T any](ctx context.Context, s *scan, src Source, limit int, also Beside[T]) error {
	err := lines(ctx, src, limit, s.choice.Filter.match, also, func(b *batch[T], base jsonl.Base, damage jsonl.Damages) error {
		s.found.Damage.Append(damage)
		if also.Fold != nil {
			also.Fold(&b.also)
		}
		s.found.Messages = base.Index + b.lines
		if b.lines > 0 {
			s.found.Last = b.last
			s.found.Last.Index += base.Index
		}

		for _, p := range b.places {
			p.Index += base.Index
			if s.back > 0 {
				s.undecided = append(s.undecided, p)
				continue
			}
			if err := s.pass(p); err != nil {
				return err
			}
		}
		return s.release(s.found.Messages - s.back)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	s.found.Whole = err == nil && limit < 0
	return err
}

// release decides about undecided messages before an index.
func (s *scan) release(before int) error {
	n := 0
	for ; n < len(s.undecided) && s.undecided[n].Index < before; n++ {
		if err := s.pass(s.undecided[n]); err != nil {
			return err
		}
	}
	s.undecided = slices.Delete(s.undecided, 0, n)
	return nil
}

// decide decides about the last messages, once their number is known.
func (s *scan) decide() error {
	if s.back == 0 {
		return nil
	}
	wanted, err := resolve(s.ranges, s.found.Messages)
	if err != nil {
		return err
	}
	s.walker.rest = wanted
	return s.release(open)
}

// pass handles a message that Filter chooses.
func (s *scan) pass(p Place) error {
	c := s.choice
	isLeftOut := c.Only != nil && !c.Only(p.Index)
	if isLeftOut || !s.walker.has(p.Index) {
		return nil
	}
	if c.Last == 0 {
		return s.handOut(p)
	}

	if len(s.last) < c.Last {
		s.last = append(s.last, p)
	} else {
		s.last[s.next] = p
		s.next = (s.next + 1) % c.Last
	}

	s.held++
	return nil
}

// handOut calls each with a message, unless First have been handed out. It returns errEnough
// if the scan may end.
func (s *scan) handOut(p Place) error {
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

// finish hands out those of the ring of last messages that are among the first ones, too.
func (s *scan) finish() error {
	for i := range s.last {
		if first := s.choice.First; first > 0 && s.held-len(s.last)+i >= first {
			break
		}
		s.found.Chosen++
		if err := s.each(s.last[(s.next+i)%len(s.last)]); err != nil {
			return err
		}
	}
	return nil
}

// ErrNoTail means that a choice does not say how many messages from the end are meant.
var ErrNoTail = errors.New("how many messages from the end is not said")

// tailBlock is how many bytes of the end are read first; each further attempt reads four
// times as much.
const tailBlock = 64 << 10

// lineStart returns the offset of the first line that begins at or after off.
func lineStart(src Source, off int64) (int64, error) {
	if off <= src.Body {
		return src.Body, nil
	}
	const step = 32 << 10
	for at := off - 1; at < src.Size; at += step {
		part, err := src.Section(at, min(step, src.Size-at))
		if err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
	}
	return src.Size, nil
}

// Tail calls each with the places of the chosen messages, in the chat's order, but reads
// from the end of the file and no further than it must. What stands before is neither
// validated nor counted, so the places have no index. The choice must say
// where it begins, with Last or with one range that counts from the end; else the error
// is [ErrNoTail]. Only and Whole do not count. Damage is that from the first chosen message
// on: a line that cannot be read there may be one of those that are meant.
func (c *Choice) Tail(ctx context.Context, src Source, each func(Place) error) (damage jsonl.Damages, err error) {
	from, to, err := c.tail()
	if err != nil {
		return damage, err
	}
	for size := int64(tailBlock); ; size *= 4 {
		start, err := lineStart(src, src.Size-size)
		if err != nil {
			return damage, err
		}

		var all []Place // of messages that pass, Index counted from start
		messages, damaged := 0, 0
		tail := src
		tail.Body = start
		tail.Line = 0
		err = lines(ctx, tail, -1, c.Filter.match, Beside[struct{}]{}, func(b *batch[struct{}], base jsonl.Base, d jsonl.Damages) error {
			damaged += d.Total
			for _, p := range b.places {
				all = append(all, Place{p.Index + base.Index, p.Off, p.Len})
			}
			messages = base.Index + b.lines
			return nil
		})
		if err != nil {
			return damage, err
		}

		whole := start == src.Body
		chosen := slices.DeleteFunc(all, func(p Place) bool {
			back := p.Index - messages
			return back < from || back > to
		})
		hasLast := c.Last > 0 && c.First == 0 && len(chosen) >= c.Last
		enough := hasLast || messages >= -from

		begin, end := 0, len(chosen)
		if c.Last > 0 {
			begin = max(0, end-c.Last)
		}
		if c.First > 0 {
			end = max(begin, min(end, c.First))
		}
		chosen = chosen[begin:end]

		if whole && len(c.Ranges) > 0 && messages < -from {
			return damage, &OutOfRangeError{from, messages}
		}
		if !whole && !enough {
			continue
		}

		if damaged > 0 {
			if len(chosen) > 0 {
				start = chosen[0].Off
			}
			if damage, err = src.damaged(ctx, start); err != nil {
				return damage, err
			}
		}

		for _, p := range chosen {
			p.Index = -1
			if err := each(p); err != nil {
				return damage, err
			}
		}
		return damage, nil
	}
}

// damaged returns the damaged lines from an offset on at which a line begins. Only if there are
// some, it reads what stands before, to count lines.
func (src Source) damaged(ctx context.Context, off int64) (found jsonl.Damages, err error) {
	end := src
	end.Body = off
	end.Line = 0
	err = lines(ctx, end, -1, nil, Beside[struct{}]{}, func(_ *batch[struct{}], _ jsonl.Base, d jsonl.Damages) error {
		found.Append(d)
		return nil
	})
	const step = 64 << 10
	for at := int64(0); at < off && found.Total > 0 && err == nil; at += step {
		var part []byte
		part, err = src.Section(at, min(step, off-at))
		for i := range found.First {
			found.First[i].Line += bytes.Count(part, []byte{'\n'})
		}
	}
	return found, err
}

// HasTail reports whether [Choice.Tail] can read the choice.
func (c *Choice) HasTail() bool {
	_, _, err := c.tail()
	return err == nil
}

// tail returns the first and the last message that are meant, both counted from the end.
func (c *Choice) tail() (from, to int, err error) {
	switch len(c.Ranges) {
	case 0:
		if c.Last > 0 && c.First == 0 {
			return -open, -1, nil
		}
	case 1:
		r := c.Ranges[0]
		if r.From < 0 && (r.To < 0 || r.toEnd) {
			return r.From, min(-1, r.To), nil
		}
	}
	return 0, 0, ErrNoTail
}
