package edit

import (
	"context"

	"stchat/internal/change/safefile"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// Returning is what comes back into one chat.
type Returning struct {
	Was      safefile.Stamp // of the chat for which the places were found
	Messages []ReturningMessage
	Swipes   []ReturningSwipe // in the order of their messages
}

// ReturningMessage is a message that comes back.
type ReturningMessage struct {
	At   int // before this message; the number of messages: at the end
	Line []byte
}

// ReturningSwipe is a swipe that comes back into a message.
type ReturningSwipe struct {
	Message    int
	Text, Info []byte // as [message.AddSwipe] takes them
}

// PutBackOptions says what comes back into which chats.
type PutBackOptions struct {
	Options
	Of func(path string) (*Returning, error)
}

// PutBack puts messages and swipes back that chats have lost: messages as [Add] adds them, swipes as
// [Swipe] does. The error wraps [safefile.ErrChanged] if a chat changed since the places were found.
func PutBack(ctx context.Context, opt PutBackOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		back, err := opt.Of(o.result.Doc.Path)
		if err != nil {
			return nil, err
		}
		if !o.chat.Stamp.Same(back.Was) {
			return nil, o.chat.Errorf("%w", safefile.ErrChanged)
		}

		wanted := map[int]bool{}
		for _, m := range back.Messages {
			wanted[m.At-1] = true
		}
		swipes := map[int][]ReturningSwipe{}
		for _, s := range back.Swipes {
			wanted[s.Message] = true
			swipes[s.Message] = append(swipes[s.Message], s)
		}

		isWanted := func(index int) bool { return wanted[index] }
		found, err := o.list(ctx, scanning{moves: true, Choice: choose.Choice{Only: isWanted}})
		if err != nil {
			return nil, err
		}

		p := &Plan{Taints: len(back.Messages) > 0}
		places := map[int]choose.Place{}
		for _, at := range found {
			places[at.Index] = at
			if swipes[at.Index] != nil {
				p.Change = append(p.Change, at)
			}
		}

		for _, m := range back.Messages {
			p.Add = append(p.Add, Insertion{At: m.At, After: places[m.At-1], Line: m.Line})
		}
		p.Edits = func(context.Context) func(choose.Place) Edit {
			return func(at choose.Place) Edit {
				return func(line []byte) ([]byte, error) { return WithSwipes(line, swipes[at.Index]) }
			}
		}
		return p, nil
	})
}

// WithSwipes returns a message with swipes put back into it.
func WithSwipes(line []byte, swipes []ReturningSwipe) (edited []byte, err error) {
	for _, s := range swipes {
		if line, _, err = message.AddSwipe(line, s.Text, s.Info); err != nil {
			return nil, err
		}
	}
	return line, nil
}
