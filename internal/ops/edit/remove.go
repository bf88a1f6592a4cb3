package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"stchat/internal/choose"
	"stchat/internal/message"
	"stchat/internal/patch"
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
var ErrAll = errors.New("all messages would go")

// Delete deletes the chosen messages.
func Delete(ctx context.Context, opt DeleteOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		p := &Plan{Taints: true, Save: opt.Save}
		err := o.choose(ctx, opt.Choice, func(at choose.Place) error {
			p.Delete = append(p.Delete, at)
			return nil
		})
		if err == nil && len(p.Delete) == 0 {
			err = o.errorf("%w", choose.ErrNone)
		}
		if err != nil {
			return nil, err
		}
		if err := takeToolCalls(ctx, o, p, opt.ToolCalls); err != nil {
			return nil, err
		}
		messages, err := o.count(ctx)
		if err == nil && len(p.Delete) == messages && !opt.Force {
			err = o.errorf("%w", ErrAll)
		}
		return p, err
	})
}

// takeToolCalls finds the tool calls directly before deleted replies, and deletes them too or
// warns that they stay. deleteMessage of SillyTavern 1.19 takes them along; before a message of
// the user or of the system it leaves them (getMessageDeletionStartId).
func takeToolCalls(ctx context.Context, o *open, p *Plan, too bool) error {
	p.sorted()
	goes := map[int]choose.Place{}
	for _, at := range p.Delete {
		goes[at.Index] = at
	}
	last := p.Delete[len(p.Delete)-1].Index
	var before, left []choose.Place // consecutive calls, and those whose reply is deleted
	err := o.choose(ctx, choose.Choice{
		Ranges: []choose.Range{{From: 0, To: last}}, Filter: choose.Filter{Has: []patch.Path{{"extra", "tool_invocations"}}},
	}, func(at choose.Place) error {
		if n := len(before); n > 0 && before[n-1].Index+1 != at.Index {
			before = nil
		}
		if is, err := o.isCall(at); err != nil || !is {
			before = nil
			return err
		}
		before = append(before, at)
		if reply, gone := goes[at.Index+1]; gone {
			is, err := o.isReply(reply)
			if is {
				left = append(left, before...)
			}
			return err
		}
		return nil
	})
	left = slices.DeleteFunc(left, func(at choose.Place) bool {
		_, gone := goes[at.Index]
		return gone
	})
	switch {
	case err != nil || len(left) == 0:
	case too:
		p.Delete = append(p.Delete, left...)
	default:
		p.warnings = append(p.warnings, fmt.Sprintf("%s: %s left without the reply, the first in message %d", o.chat.Label(), plural.Of(len(left), "tool call is", "tool calls are"), left[0].Index))
	}
	return err
}

// isCall reports whether a message holds tool calls.
func (o *open) isCall(at choose.Place) (bool, error) {
	line, err := o.chat.Source.Section(at.Off, at.Len)
	if err != nil {
		return false, o.errorf("%w", err)
	}
	system, _ := rawjson.Lookup(line, "is_system")
	calls, _ := rawjson.Lookup(line, "extra", "tool_invocations")
	return rawjson.Truthy(system) && rawjson.KindOf(calls) == rawjson.Array, nil
}

// isReply reports whether a message is a character's.
func (o *open) isReply(at choose.Place) (bool, error) {
	line, err := o.chat.Source.Section(at.Off, at.Len)
	if err != nil {
		return false, o.errorf("%w", err)
	}
	user, _ := rawjson.Lookup(line, "is_user")
	system, _ := rawjson.Lookup(line, "is_system")
	return message.Role(user, system) == message.Character, nil
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
		p := &Plan{Edits: each(opt.line)}
		err := o.chooseAndCount(ctx, opt.Choice, func(at choose.Place) error {
			p.Change.add(at)
			return nil
		})
		if err == nil && p.Change.n == 0 {
			err = o.errorf("%w", choose.ErrNone)
		}
		return p, err
	})
}

// line hides a message or shows it again.
func (opt *HideOptions) line(line []byte) ([]byte, error) {
	if kind, _ := rawjson.Lookup(line, "extra", "type"); rawjson.Truthy(kind) && !opt.All {
		return line, nil
	}
	return message.SetSystem(line, opt.Hide), nil
}
