package cut

import (
	"context"
	"errors"
	"time"

	"stchat/internal/extension/isolate"
	"stchat/internal/jsonl"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
)

// read finds out what must be known of the messages before the new chat is written, unless it is
// known. Copying finds the last message anyway: a pass that only finds it is made if its index
// must be known before.
func (j *job) read(ctx context.Context, opt *Options, needsIndex bool) error {
	if j.state != nil {
		return nil
	}
	var err error
	j.last, err = findLast(ctx, opt, j.src, j.last)
	if err != nil {
		return err
	}
	if opt.needsState() {
		j.facts, err = readState(ctx, opt, j.src, j.last)
		return err
	}
	if needsIndex && j.last.index < 0 {
		j.last, err = findFromEnd(ctx, opt, j.src)
	}
	return err
}

// findChosen finds the one message that a choice means.
func findChosen(ctx context.Context, opt *Options, src *chat.Chat, choice *choose.Choice) (lastMessage, error) {
	from := choose.SourceOf(src)
	from.Workers, from.Progress = opt.workers(), opt.Meter.Follow()
	at, scanned, err := choice.One(ctx, from)
	switch {
	case scanned.Damage.Total > 0 && !opt.SkipDamaged:
		err = src.DamageError(scanned.Damage.First[0])
	case err != nil:
		err = src.Errorf("%w", err)
	default:
		err = src.Unchanged()
	}
	if err != nil {
		at.Index = -1
	}
	return lastMessage{at.Index, true, scanned.Damage}, err
}

// findLast finds the last message if that takes a pass of its own: by what it is like, by a date,
// or counted from far back. Otherwise it returns known.
func findLast(ctx context.Context, opt *Options, src *chat.Chat, known lastMessage) (lastMessage, error) {
	switch {
	case known.index >= 0:
		return known, nil
	case !opt.AtOne.All():
		chosen, err := findChosen(ctx, opt, src, &opt.AtOne)
		return lastMessage{index: chosen.index}, err // what lies behind it was not meant to count
	case !opt.AsOf.IsZero():
		return findDate(ctx, opt, src)
	case opt.At < -maxPlaces:
		return findFromEnd(ctx, opt, src)
	}
	return known, nil
}

// findFromEnd finds a message counted from the end by counting all messages.
func findFromEnd(ctx context.Context, opt *Options, src *chat.Chat) (lastMessage, error) {
	counted, err := jsonl.Copy(ctx, nil, src.Source, copyOptions(opt, src, -1, 0))
	if err := readError(src, err); err != nil {
		return lastMessage{index: -1}, err
	}
	at := counted.Lines + opt.At
	if at < 0 {
		return lastMessage{index: -1}, outOfRange(opt, src, counted.Lines)
	}
	return lastMessage{at, true, counted.Skipped}, nil
}

// findDate finds the last message with a readable date not later than AsOf.
func findDate(ctx context.Context, opt *Options, src *chat.Chat) (lastMessage, error) {
	found, err := findChosen(ctx, opt, src, &choose.Choice{Filter: choose.Filter{Until: opt.AsOf}, Last: 1})
	if !errors.Is(err, choose.ErrNone) {
		return found, err
	}
	dated := choose.Choice{Filter: choose.Filter{Until: time.Unix(1<<40, 0)}, Last: 1}
	_, err = findChosen(ctx, opt, src, &dated)
	if errors.Is(err, choose.ErrNone) {
		return found, src.Errorf("no message has a date that can be read")
	}
	if err != nil {
		return found, err
	}
	return found, src.Errorf("no message is as old as %s", opt.AsOf.Format(time.RFC3339))
}

// readState reads, in one pass, what isolation, snapshots and requirements need of the messages.
// The pass also finds the last message.
func readState(ctx context.Context, opt *Options, src *chat.Chat, known lastMessage) (facts, error) {
	at := opt.At
	if known.index >= 0 {
		at = known.index
	}
	state, err := isolate.Scan(ctx, src.Source, isolate.Options{
		From: src.Body, Line: src.BodyLine, At: at, Workers: opt.workers(), Progress: opt.Meter.Follow(),
	})
	out, isOutside := errors.AsType[*isolate.RangeError](err)
	if err != nil && !isOutside {
		return facts{last: known}, src.Errorf("%w", err)
	}
	if at < 0 {
		// the copy stops at the last message and does not see damage after it
		known.whole = true
		known.damage = state.Damage
		if state.Damage.Total > 0 && !opt.SkipDamaged {
			return facts{last: known}, src.DamageError(state.Damage.First[0])
		}
	}

	if isOutside {
		return facts{last: known}, outOfRange(opt, src, out.Messages)
	}

	known.index = state.At
	if opt.Message == nil {
		return facts{known, state}, nil
	}
	// the state at the last message is that after its edit
	copied, err := copyTo(ctx, opt, nil, src, known)
	if err != nil {
		return facts{last: known}, err
	}
	line, err := edited(opt, src, copied.Last[0])
	if err != nil {
		return facts{last: known}, err
	}
	state.Choose(line)
	return facts{known, state}, nil
}
