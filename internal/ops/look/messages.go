package look

import (
	"context"

	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/luker"
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
	c, err := opt.open(ctx)
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
		return each(read(c, at, line, opt.SwipeTexts))
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
	c, err := opt.open(ctx)
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

// open opens the chat. It is an error if Luker keeps the user's chats in a database.
func (opt *MessageOptions) open(ctx context.Context) (*chat.Chat, error) {
	opt.Open.Any = true
	c, err := chat.Open(ctx, opt.Path, opt.Open)
	if err != nil {
		return nil, ops.PathError(err)
	}
	if c.HasDir {
		if reason := luker.InDatabase(c.Dir.Root); reason != "" {
			defer c.Close()
			return nil, c.Errorf("%w", &luker.DatabaseError{Reason: reason})
		}
	}
	return c, nil
}

func (opt *MessageOptions) judge(c *chat.Chat, damage jsonl.Damages) error {
	if damage.Total == 0 || opt.SkipDamaged {
		return nil
	}
	return c.DamageError(damage.First[0])
}
