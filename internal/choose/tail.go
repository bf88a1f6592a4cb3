package choose

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"stchat/internal/jsonl"
)

// ErrNoTail means that a choice does not say how many messages from the end are meant.
var ErrNoTail = errors.New("how many messages from the end is not said")

// tailBlock is how many bytes of the end are read first; each further attempt reads four
// times as much.
const tailBlock = 64 << 10

func handOut(places []Place, first int, each func(Place) error) error {
	if first > 0 {
		places = places[:min(first, len(places))]
	}
	for _, p := range places {
		p.Index = -1
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

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
		end := src
		end.Body, end.Line = start, 0
		err = lines(ctx, end, -1, c.Filter.match, Beside[struct{}]{}, func(b *batch[struct{}], base jsonl.Base, d jsonl.Damages) error {
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
		chosen := slices.DeleteFunc(all, func(p Place) bool { back := p.Index - messages; return back < from || back > to })
		enough := messages >= -from
		if c.Last > 0 {
			enough = enough || len(chosen) >= c.Last
			chosen = chosen[max(0, len(chosen)-c.Last):]
		}
		switch {
		case whole && len(c.Ranges) > 0 && messages < -from:
			return damage, &OutOfRangeError{from, messages}
		case whole || enough:
			if damaged > 0 {
				if len(chosen) > 0 {
					start = chosen[0].Off
				}
				if damage, err = src.damaged(ctx, start); err != nil {
					return damage, err
				}
			}
			return damage, handOut(chosen, c.First, each)
		}
	}
}

// damaged returns the damaged lines from an offset on at which a line begins. Only if there are
// some, it reads what stands before, to count lines.
func (src Source) damaged(ctx context.Context, off int64) (found jsonl.Damages, err error) {
	end := src
	end.Line, end.Body = 0, off
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
	switch {
	case len(c.Ranges) == 1 && c.Ranges[0].From < 0 && (c.Ranges[0].To < 0 || c.Ranges[0].toEnd):
		return c.Ranges[0].From, min(-1, c.Ranges[0].To), nil
	case len(c.Ranges) == 0 && c.Last > 0:
		return -open, -1, nil
	}
	return 0, 0, ErrNoTail
}
