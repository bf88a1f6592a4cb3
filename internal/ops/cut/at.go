package cut

import (
	"context"
	"time"

	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/sendate"
)

// findIndex finds the index of the last message, for names that contain it.
func findIndex(ctx context.Context, c *call, p *plan) error {
	src, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer c.release(src)
	if p.last, err = findLast(ctx, c.opt, src, p.last); err != nil || p.last.index >= 0 {
		return err
	}
	copied, err := copyTo(ctx, c.opt, nil, src, p.last)
	if err == nil {
		p.last = last{copied.Last[0].Index, true, copied.Skipped}
	}
	return err
}

// findOne finds the one chosen message.
func findOne(ctx context.Context, c *call, p *plan) (last, error) {
	none := last{index: -1}
	src, err := c.open(ctx, p)
	if err != nil {
		return none, err
	}
	defer c.release(src)
	at, scanned, err := c.opt.AtOne.One(ctx, choose.Source{Source: src.Source, Body: src.Body, Line: src.BodyLine, Workers: c.opt.workers()})
	switch {
	case scanned.Damage.Total > 0 && !c.opt.SkipDamaged:
		return none, src.DamageError(scanned.Damage.First[0])
	case err != nil:
		return none, src.Errorf("%w", err)
	}
	return last{index: at.Index}, nil
}

// findLast finds the last message if that takes a pass of its own: by a date, or counted from
// far back. Otherwise it returns known.
func findLast(ctx context.Context, opt *Options, src *chat.Chat, known last) (last, error) {
	switch {
	case known.index >= 0:
		return known, nil
	case !opt.AsOf.IsZero():
		return findDate(ctx, opt, src)
	case opt.At < -maxPlaces:
		return findFromEnd(ctx, opt, src)
	}
	return known, nil
}

// findFromEnd finds a message counted from the end by counting all messages.
func findFromEnd(ctx context.Context, opt *Options, src *chat.Chat) (last, error) {
	counted, err := jsonl.Copy(ctx, nil, src.Source, copyOptions(opt, src, -1, 0))
	if err := readError(src, err); err != nil {
		return last{index: -1}, err
	}
	at := counted.Lines + opt.At
	if at < 0 {
		return last{index: -1}, outOfRange(opt, src, counted.Lines)
	}
	return last{at, true, counted.Skipped}, nil
}

// dated is what a batch of messages tells about when they were sent.
type dated struct {
	last     int // index in the batch, plus 1, of the last message that is early enough; 0: none
	readable bool
}

// findDate finds the last message with a readable date not later than AsOf.
func findDate(ctx context.Context, opt *Options, src *chat.Chat) (last, error) {
	found, readable := last{index: -1, whole: true}, false
	err := jsonl.Map(ctx, src.Source, jsonl.MapOptions{
		From: src.Body, Line: src.BodyLine, Limit: -1, Keys: jsonl.NewKeys("send_date"),
		Workers: opt.workers(), Progress: opt.Meter.Follow(),
	}, func(l *jsonl.Line, d *dated) {
		if l.Damage != nil {
			return
		}
		raw, _ := l.Value(0)
		t, ok := sendate.ParseRaw(raw)
		if !ok {
			return
		}
		d.readable = true
		if !t.After(opt.AsOf) {
			d.last = l.Index + 1
		}
	}, func(d *dated, base jsonl.Base, damage jsonl.Damages) error {
		if d.last > 0 {
			found.index = base.Index + d.last - 1
		}
		readable = readable || d.readable
		found.damage.Append(damage)
		return nil
	}, nil)
	if err == nil && found.damage.Total > 0 && !opt.SkipDamaged {
		err = &found.damage.First[0]
	}
	if err := readError(src, err); err != nil {
		return found, err
	}
	switch {
	case !readable:
		return found, src.Errorf("no message has a date that can be read")
	case found.index < 0:
		return found, src.Errorf("no message is as old as %s", opt.AsOf.Format(time.RFC3339))
	}
	return found, nil
}
