package edit

import (
	"bytes"
	"context"
	"fmt"

	"stchat/internal/choose"
	"stchat/internal/message"
	"stchat/internal/ops"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

// SetOptions says how to change messages.
type SetOptions struct {
	Options
	Choice choose.Choice
	Values patch.Changes
	Sub    []Substitution
	// AllSwipes makes the substitutions in every swipe.
	AllSwipes bool
}

var (
	// ErrShape means that an edit would leave something that is not a message.
	ErrShape = error(&ops.Kind{Code: "usage", Text: "SillyTavern could not show the message"})
	// ErrChosenGone means that an edit takes the chosen swipe from the list of swipes.
	ErrChosenGone = error(&ops.Kind{Code: "usage", Text: "swipes would lack the chosen one, or it would not be text"})
	// ErrSwipeID means that an edit sets swipe_id.
	ErrSwipeID = error(&ops.Kind{Code: "usage", Text: "swipe_id cannot be set: the text and the dates belong to the chosen swipe", Hint: "swipe"})
)

// Set changes the chosen messages. If the text changes, so does the chosen swipe.
func Set(ctx context.Context, opt SetOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		subs := prepared(opt.Sub)
		places, err := o.chosen(ctx, scanning{Choice: opt.Choice})
		return &Plan{Taints: true, Change: places, OnlyTexts: opt.Values.Empty(), Edits: each(func(line []byte) ([]byte, error) { return opt.line(line, subs) })}, err
	})
}

// Line makes the changes in one message.
func (opt *SetOptions) Line(line []byte) ([]byte, error) { return opt.line(line, prepared(opt.Sub)) }

func (opt *SetOptions) line(line []byte, subs []substituting) ([]byte, error) {
	edited, err := setValues(&opt.Values, line)
	switch { // substitutions keep a message a message
	case err != nil || len(subs) == 0:
		return edited, err
	case opt.AllSwipes:
		return everywhere(edited, subs)
	}
	return rawjson.Splices(edited, reworded(edited, message.TextsOf(edited), subs)), nil
}

// setValues makes changes in a message.
func setValues(c *patch.Changes, line []byte) ([]byte, error) {
	edited, err := c.Apply(line)
	if err != nil {
		return nil, err
	}
	return judged(line, edited)
}

// judged refuses an edit that leaves something other than a message, and copies an edited text
// to the chosen swipe.
func judged(line, edited []byte) ([]byte, error) {
	if bytes.Equal(line, edited) {
		return line, nil
	}
	if kind := rawjson.KindOf(edited); kind != rawjson.ObjectKind {
		return nil, fmt.Errorf("%w: it would be %s, not an object", ErrShape, kind)
	}
	keys := [...]string{"mes", "name", "is_user", "swipe_id", "swipes", "chat_metadata"}
	kinds := [...]rawjson.Kind{rawjson.String, rawjson.String, rawjson.Bool}
	var was, is [len(keys)]rawjson.Span
	rawjson.Places(line, was[:], keys[:]...)
	rawjson.Places(edited, is[:], keys[:]...)
	same := func(i int) bool {
		return (was[i].End > 0) == (is[i].End > 0) && bytes.Equal(line[was[i].At:was[i].End], edited[is[i].At:is[i].End])
	}
	if !same(3) {
		return nil, ErrSwipeID
	}
	for i, want := range kinds {
		if kind := rawjson.KindOf(edited[is[i].At:is[i].End]); !same(i) && kind != want {
			if is[i].End == 0 {
				return nil, fmt.Errorf("%w: %s would be missing", ErrShape, keys[i])
			}
			return nil, fmt.Errorf("%w: %s would be %s", ErrShape, keys[i], kind)
		}
	}
	if !same(5) && is[5].End > 0 {
		return nil, fmt.Errorf("%w: with chat_metadata it would be a header", ErrShape)
	}
	if !same(4) {
		if message.CheckChosen(edited) != nil {
			return nil, ErrChosenGone
		}
	}
	if same(0) {
		return edited, nil
	}
	return message.SyncText(edited), nil
}
