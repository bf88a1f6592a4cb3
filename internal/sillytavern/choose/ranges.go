package choose

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ErrRange means that a text is not a list of ranges.
var ErrRange = errors.New("not a message number or range")

// Range is a range of messages as it was typed, both ends inclusive. A number below 0
// counts from the end.
type Range struct {
	From, To int
	toEnd    bool // To is open
	soft     bool // To may be beyond the last message
}

// Open reports whether the range goes to the end, wherever that is.
func (r Range) Open() bool { return r.toEnd }

// From returns the range that begins at a message and goes to the end.
func From(message int) Range { return Range{From: message, To: open, toEnd: true} }

// open is the end of a range that has none.
const open = math.MaxInt

// ParseRanges reads a list of N, N..M, N-M, N.. and ..M, separated by commas. The error
// wraps [ErrRange] and shows the place.
func ParseRanges(text string) ([]Range, error) {
	var list []Range
	at := 0
	for part := range strings.SplitSeq(text, ",") {
		r, err := parseRange(part)
		if err != nil {
			return nil, &rangeError{text, part, at + 1, err}
		}
		list = append(list, r)
		at += len(part) + 1
	}
	return list, nil
}

func parseRange(part string) (Range, error) {
	if from, to, ok := strings.Cut(part, ".."); ok {
		return parseEnds(from, to)
	}

	// N-M, as in SillyTavern's /messages: neither may count from the end
	if dash := strings.LastIndexByte(part, '-'); dash > 0 {
		from, to := part[:dash], part[dash+1:]
		switch {
		case strings.HasPrefix(from, "-"):
			return Range{}, ErrRange
		case to == "":
			return Range{}, fmt.Errorf("%w; %s.. means to the end", ErrRange, from)
		}
		return parseEnds(from, to)
	}

	n, err := number(part)
	return Range{From: n, To: n}, err
}

// parseEnds reads the two ends of a range, either of which may be empty.
func parseEnds(from, to string) (r Range, err error) {
	if from == "" && to == "" {
		return r, ErrRange
	}

	if from != "" {
		if r.From, err = number(from); err != nil {
			return r, err
		}
	}

	if to == "" {
		r.To = open
		r.toEnd = true
		return r, nil
	}
	if r.To, err = number(to); err != nil {
		return r, err
	}

	sameSide := r.From < 0 == (r.To < 0) // else it depends on how many messages there are
	if sameSide && r.To < r.From {
		return r, &backwardsError{from, to}
	}
	return r, nil
}

// backwardsError is an [ErrRange] about one whose end is before its beginning.
type backwardsError struct{ from, to string }

func (e *backwardsError) Error() string {
	return fmt.Sprintf("it runs backwards; %s..%s is meant?", e.to, e.from)
}

func (e *backwardsError) Is(target error) bool { return target == ErrRange }

// rangeError says what of a list of ranges cannot be read.
type rangeError struct {
	text, part string
	at         int // the character at which the part begins, from 1
	err        error
}

func (e *rangeError) Error() string {
	switch {
	case e.part == "" && e.text == "":
		return "no message is named"
	case e.part == "":
		return fmt.Sprintf("%q: a number is missing at character %d", e.text, e.at)
	case e.part == e.text:
		return fmt.Sprintf("%q: %v", e.text, e.err)
	}
	return fmt.Sprintf("%q at character %d of %q: %v", e.part, e.at, e.text, e.err)
}

func (e *rangeError) Unwrap() error { return e.err }

// number reads a message number: decimal digits, with or without a minus sign. Leading
// zeros do not make it octal.
func number(text string) (int, error) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, ErrRange
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%w: no chat has so many messages", ErrRange)
	}
	return int(n), nil
}

// OutOfRangeError says that a chat does not have a message that was asked for.
type OutOfRangeError struct {
	At       int // as it was asked for
	Messages int // how many the chat has
}

func (e *OutOfRangeError) Error() string {
	if e.Messages == 0 {
		return fmt.Sprintf("there is no message %d: the chat has no messages", e.At)
	}
	return fmt.Sprintf("there is no message %d; the last one is %d", e.At, e.Messages-1)
}

// maxBack is how far from the end an index may count for its message to be found without
// knowing how many there are: the places of so many are held meanwhile.
const maxBack = 4096

// fromEnd returns how far from the end the numbers count, 0 if none does.
func fromEnd(ranges []Range) (back int) {
	for _, r := range ranges {
		back = max(back, -r.From, -r.To)
	}
	return back
}

// beforeBack returns what the ranges choose of the messages before the last ones, which are
// those that some number counts from the end.
func beforeBack(ranges []Range) (before []Range) {
	for _, r := range ranges {
		switch {
		case r.From < 0: // it begins behind them
		case r.To < 0:
			before = append(before, From(r.From))
		default:
			before = append(before, r)
		}
	}
	return before
}

// interval is a range of indexes, both ends inclusive.
type interval struct{ from, to int }

// intervals are sorted and do not touch each other.
type intervals []interval

// resolve turns ranges into indexes of a chat with so many messages. messages below 0
// means that their number is unknown; then no range may count from the end.
func resolve(ranges []Range, messages int) (intervals, error) {
	var list intervals
	for _, r := range ranges {
		i, err := r.resolve(messages)
		if err != nil {
			return nil, err
		}
		if i.from <= i.to {
			list = append(list, i)
		}
	}

	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	merged := list[:0]
	for _, i := range list {
		if n := len(merged); n > 0 && i.from-1 <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, i.to)
			continue
		}
		merged = append(merged, i)
	}
	return merged, nil
}

func (r Range) resolve(messages int) (interval, error) {
	place := func(n int) (int, error) {
		beforeFirst := n < 0 && n+messages < 0
		behindLast := messages >= 0 && n >= messages
		switch {
		case beforeFirst || behindLast:
			return 0, &OutOfRangeError{n, messages}
		case n < 0:
			return n + messages, nil
		}
		return n, nil
	}

	if r.toEnd && r.From >= 0 {
		return interval{r.From, open}, nil // from beyond the end it chooses nothing
	}
	from, err := place(r.From)
	if err != nil {
		return interval{}, err
	}

	to := open
	isClipped := r.soft && messages >= 0 && r.To >= messages
	switch {
	case isClipped:
		to = messages - 1
	case !r.toEnd:
		if to, err = place(r.To); err != nil {
			return interval{}, err
		}
	}

	if to < from {
		return interval{}, fmt.Errorf("%w: %d..%d runs backwards", ErrRange, r.From, r.To)
	}
	return interval{from, to}, nil
}

// last returns the last index that the intervals name.
func (l intervals) last() int {
	if len(l) == 0 {
		return -1
	}
	return l[len(l)-1].to
}

// bound returns the last message that the ranges name as an end, leaving out those that
// go to the end; -1 if there is none.
func bound(ranges []Range) int {
	most := -1
	for _, r := range ranges {
		if !r.toEnd {
			most = max(most, r.To)
		}
	}
	return most
}

// required returns the ranges whose ends the chat must have: all, or where they are clipped single
// messages, and the beginnings of the others.
func (c *Choice) required() []Range {
	if !c.Clip {
		return c.Ranges
	}
	var list []Range
	for _, r := range c.Ranges {
		if r.From >= 0 && !r.toEnd {
			list = append(list, Range{From: r.From, To: r.From})
		}
	}
	return list
}

// clipped returns ranges that end at the last message where they go beyond it.
func clipped(ranges []Range) []Range {
	list := slices.Clone(ranges)
	for i, r := range list {
		if r.To > r.From && r.From >= 0 && !r.toEnd {
			list[i].soft = true
		}
	}
	return list
}

// walker finds out which indexes are chosen, if they come in order.
type walker struct{ rest intervals }

func (w *walker) has(index int) bool {
	for len(w.rest) > 0 && w.rest[0].to < index {
		w.rest = w.rest[1:]
	}
	return len(w.rest) > 0 && w.rest[0].from <= index
}

// Indexes returns the first and the last index of the range in a chat with so many messages;
// the last is before the first if the range is empty there. The error is a
// [*OutOfRangeError], or wraps [ErrRange] if the range ends before it begins.
func (r Range) Indexes(messages int) ([2]int, error) {
	i, err := r.resolve(messages)
	return [2]int{i.from, min(i.to, messages-1)}, err
}
