package edit

import (
	"context"
	"errors"
	"fmt"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// SwipeOptions says how to change the swipes of one message.
type SwipeOptions struct {
	Options
	Choice choose.Choice // one message
	SwipeChange
}

// SwipeChange is a change to a message's swipes, which count from 1.
type SwipeChange struct {
	Choose int     // choose this swipe; 0: none
	Delete int     // delete this swipe; 0: none
	Add    *string // add a swipe with this text
	Chosen bool    // and choose it
}

// ErrNoSwipes means that SillyTavern shows no swipes for a message.
var ErrNoSwipes = error(&ops.Kind{Code: "refused", Text: "SillyTavern shows no swipes for messages of the user and of the system", Hint: "force"})

// ErrUnfit means that removing a swipe could give a message what an extension keeps for another swipe.
var ErrUnfit = error(&ops.Kind{Code: "refused", Text: "an extension keeps something for each swipe, and it is not known for which", Hint: "force"})

// Swipe changes the swipes of one message as SillyTavern's page does.
func Swipe(ctx context.Context, opt SwipeOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		places, err := o.chosen(ctx, scanning{Choice: opt.Choice})
		switch {
		case err != nil:
			return nil, err
		case len(places) > 1:
			return nil, o.chat.Errorf("%w, not %d", choose.ErrNotOne, len(places))
		}

		p := &Plan{Taints: opt.Taints(), Change: places}
		p.Edits = each(func(line []byte) (edited []byte, err error) {
			edited, o.result.Swipe, err = opt.edit(line, o.greeting, &opt.Options)
			return edited, err
		})
		if opt.Delete > 0 {
			p.swipeGoes(places[0].Index, opt.Delete-1)
		}
		return p, nil
	})
}

// Taints reports whether SillyTavern would mark the chat as tainted: no longer as its greeting
// made it.
func (opt *SwipeChange) Taints() bool { return opt.Delete > 0 }

// isGreeting reports whether a chat has a single, untouched message, which SillyTavern's page
// may still replace by another greeting of the card.
func isGreeting(messages int, metadata *rawjson.Object) bool {
	return messages == 1 && !IsTainted(metadata)
}

// IsTainted reports whether a chat is no longer as its greeting made it.
func IsTainted(metadata *rawjson.Object) bool { return rawjson.Truthy(metadata.Value("tainted")) }

// edit returns the message with its swipes changed, and the number of an added swipe, 0 if
// there is none. What the message holds now first goes into its own swipe.
func (s *SwipeChange) edit(line []byte, greeting bool, opt *Options) (edited []byte, number int, err error) {
	if s.Delete > 0 {
		edited, err = message.DeleteSwipe(line, s.Delete, opt.Force)
		if _, unfit := errors.AsType[*message.UnfitError](err); unfit {
			err = fmt.Errorf("%w: %w", ErrUnfit, err)
		}
		return edited, 0, err
	}

	if number = s.Choose; number > 0 {
		if err := message.CheckText(line, number); err != nil {
			return nil, 0, err
		}
	}

	if s.Add != nil {
		if (rawjson.Truthy(rawjson.Value(line, "is_user")) || rawjson.Truthy(rawjson.Value(line, "is_system"))) && !opt.Force {
			return nil, 0, ErrNoSwipes
		}
		line, number, err = message.AddSwipe(line, rawjson.Quote(*s.Add), message.NewSwipeInfo(sendDate(opt.Changes.Now)))
		if err != nil || !s.Chosen {
			return line, number, err
		}
	}
	if line, err = message.SyncSwipe(line, greeting); err != nil {
		return nil, 0, err
	}
	edited, err = message.ChooseSwipe(line, number, greeting)
	if s.Add == nil {
		number = 0
	}
	return edited, number, err
}
