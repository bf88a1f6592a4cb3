package edit

import (
	"context"
	"fmt"
	"slices"

	"stchat/internal/choose"
	"stchat/internal/message"
	"stchat/internal/ops"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// DeleteOptions says which messages to delete.
type DeleteOptions struct {
	Options
	Choice    choose.Choice
	ToolCalls bool   // also the tool calls directly before a chosen reply
	Save      string // a new file for the deleted lines; "" for none
}

// ErrAll means that all messages of a chat would be deleted.
var ErrAll = error(&ops.Kind{Code: "refused", Text: "all messages would be deleted", Hint: "force"})

// Delete deletes the chosen messages.
func Delete(ctx context.Context, opt DeleteOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		places, err := o.chosen(ctx, scanning{Choice: opt.Choice, moves: true})
		p := &Plan{Taints: true, Delete: places, Save: opt.Save}
		if err == nil {
			err = followToolCalls(ctx, o, p, opt.ToolCalls)
		}
		if err != nil {
			return nil, err
		}
		messages, err := o.count(ctx)
		if err == nil && len(p.Delete) == messages && !opt.Force {
			err = o.errorf("%w", ErrAll)
		}
		return p, err
	})
}

// followToolCalls finds the tool calls directly before deleted replies, and deletes them too or
// warns that they stay. deleteMessage of SillyTavern 1.19 takes them along; before a message of
// the user or of the system it leaves them (getMessageDeletionStartId).
func followToolCalls(ctx context.Context, o *open, p *Plan, too bool) error {
	var left []choose.Range
	for _, at := range p.Delete {
		if !o.facts.Reply(at.Index) {
			continue
		}
		first := at.Index
		for first > 0 && o.facts.Call(first-1) {
			first--
		}
		for i := first; i < at.Index; i++ {
			_, goes := slices.BinarySearchFunc(p.Delete, i, func(at choose.Place, index int) int { return at.Index - index })
			if !goes {
				left = append(left, choose.Range{From: i, To: i})
			}
		}
	}
	switch {
	case len(left) == 0:
		return nil
	case !too:
		p.warnings = append(p.warnings, fmt.Sprintf("%s: %s left without the reply, the first in message %d", o.chat.Label(), plural.Of(len(left), "tool call is", "tool calls are"), left[0].From))
		return nil
	}
	more, err := o.chosen(ctx, scanning{Choice: choose.Choice{Ranges: left}})
	p.Delete = append(p.Delete, more...)
	return err
}

// HideOptions says which messages to hide from the prompt, or to show again.
type HideOptions struct {
	Options
	Choice choose.Choice
	Hide   bool
	All    bool // also messages with extra.type
}

// Hide hides the chosen messages, or shows them again (/hide and /unhide).
func Hide(ctx context.Context, opt HideOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		places, err := o.chosen(ctx, scanning{Choice: opt.Choice})
		return &Plan{Change: places, Edits: each(opt.line)}, err
	})
}

// line hides a message or shows it again.
func (opt *HideOptions) line(line []byte) ([]byte, error) {
	if rawjson.Truthy(rawjson.Value(line, "extra", "type")) && !opt.All {
		return line, nil
	}
	return message.SetSystem(line, opt.Hide), nil
}
