package look

import (
	"context"

	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/library"
	"stchat/internal/ops"
)

// MessageOptions says which messages of a chat to read.
type MessageOptions struct {
	Path        string // "-": standard input
	Choice      choose.Choice
	Tail        bool // read from the end, no further back than needed
	SkipDamaged bool
	Open        chat.Options

	SwipeTexts bool // fill in Message.SwipeTexts
}

// Messages calls each for the chosen messages of a chat, in the chat's order, and returns
// how many there were. A message is valid until each returns. A damaged line among those
// read is an error that wraps [chat.ErrDamaged], unless SkipDamaged is set; skipped holds
// the damaged lines.
func Messages(ctx context.Context, opt MessageOptions, each func(*Message) error) (chosen int, skipped jsonl.Damages, err error) {
	opt.Open.Any = true
	c, err := ops.Open(ctx, new(library.Library), opt.Path, ops.Anything, opt.Open)
	if err != nil {
		return 0, skipped, err
	}
	defer c.Close()
	hand := func(at choose.Place) error {
		line, err := c.Source.Section(at.Off, at.Len)
		if err != nil {
			return c.Errorf("%w", err)
		}
		chosen++
		return each(read(c.Chat, at, line, opt.SwipeTexts))
	}
	source := choose.Source{Source: c.Source, Body: c.Body, Line: c.BodyLine}
	if opt.Tail {
		skipped, err = opt.Choice.Tail(ctx, source, hand)
		if err == nil {
			return chosen, skipped, opt.judge(c, skipped)
		}
		return chosen, skipped, c.Errorf("%w", err)
	}
	skipped = c.Damage
	if err := opt.judge(c, skipped); err != nil {
		return 0, skipped, err
	}
	scanned, err := opt.Choice.Scan(ctx, source, hand)
	if err != nil {
		return chosen, skipped, c.Errorf("%w", err)
	}
	skipped.Append(scanned.Damage)
	if err := opt.judge(c, skipped); err != nil {
		return chosen, skipped, err
	}
	return chosen, skipped, c.Unchanged()
}

// CountMessages returns how many messages of a chat are chosen. Damaged lines are treated as
// [Messages] treats them.
func CountMessages(ctx context.Context, opt MessageOptions) (chosen int, skipped jsonl.Damages, err error) {
	opt.Open.Any = true
	c, err := ops.Open(ctx, new(library.Library), opt.Path, ops.Anything, opt.Open)
	if err != nil {
		return 0, skipped, err
	}
	defer c.Close()
	skipped = c.Damage
	scanned, err := opt.Choice.Scan(ctx, choose.Source{Source: c.Source, Body: c.Body, Line: c.BodyLine}, func(choose.Place) error { return nil })
	if err != nil {
		return 0, skipped, c.Errorf("%w", err)
	}
	skipped.Append(scanned.Damage)
	return scanned.Chosen, skipped, opt.judge(c, skipped)
}

func (opt *MessageOptions) judge(c *ops.Subject, damage jsonl.Damages) error {
	if damage.Total == 0 || opt.SkipDamaged {
		return nil
	}
	return c.DamageError(damage.First[0])
}
