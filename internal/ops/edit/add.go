package edit

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/sendate"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
)

// Roles of a message that is made from a text.
const (
	RoleUser      = "user"
	RoleCharacter = "character"
	RoleSystem    = "system"
	RoleNarrator  = "narrator"
	RoleComment   = "comment"
)

// AddOptions says which messages to add, and where.
type AddOptions struct {
	Options
	At *int // before this message; negative: counted from the end; nil: at the end

	Objects [][]byte // messages as JSON objects, one line each
	Role    string   // instead of Objects: one message with this role
	Name    string   // of the speaker; "": that of the last message with this role
	Text    string
}

var (
	// ErrNotMessage means that an object is not a message.
	ErrNotMessage = error(&ops.Kind{Code: "usage", Text: "not a message"})
	// ErrNoSpeaker means that the speaker's name is not known.
	ErrNoSpeaker = error(&ops.Kind{Code: "usage", Text: "nobody has spoken in this role yet", Hint: "speaker"})
)

// Add adds messages to a chat. Objects keep their keys, order and spelling; name, is_user,
// is_system and send_date are added if missing.
func Add(ctx context.Context, opt AddOptions) []*Result {
	opt.again = ops.ChangedMeanwhile
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		s := scanning{moves: opt.At != nil, speakers: true, Choice: choose.Choice{Only: nobody}}
		switch { // only the message before the new ones is wanted, for their place
		case opt.At == nil:
		case *opt.At >= 0:
			s.Only = func(index int) bool { return index == *opt.At-1 }
		default:
			s.Choice = choose.Choice{Last: 1 - *opt.At}
		}

		before, err := o.list(ctx, s)
		if err != nil {
			return nil, err
		}
		at, err := o.count(ctx)
		if opt.At != nil && err == nil {
			if at, err = insertAt(*opt.At, at); err != nil {
				err = o.chat.Errorf("%w", err)
			}
		}
		if err != nil {
			return nil, err
		}
		if opt.At != nil && *opt.At < 0 {
			before = before[:len(before)+*opt.At]
		}
		p := &Plan{Taints: true}
		if opt.Role != "" {
			line, err := o.speakers.made(o, &opt)
			if err != nil {
				return nil, err
			}
			p.add(at, before, line)
			if name := rawjson.Value(line, "name"); opt.Role == RoleCharacter && o.chat.Kind == userdir.Group && !o.speakers.hasFace(name) {
				o.result.Warn("%s: no message of %s says whose picture to show, so the new one does not either", o.chat.Label(), name)
			}
			return p, nil
		}

		last, err := o.chat.Source.Section(o.last.Off, o.last.Len)
		if err != nil {
			return nil, o.chat.Errorf("%w", err)
		}
		for i, object := range opt.Objects {
			line, err := o.speakers.completed(object, opt.Changes.Now.Add(time.Duration(i)*time.Millisecond))
			if err != nil {
				return nil, fmt.Errorf("object %d: %w", i+1, err)
			}
			if id := generation(line); id != nil && bytes.Equal(id, generation(last)) { // Luker's append
				o.result.Tell(ops.Fact{Kind: ops.FactRepeated, Path: o.chat.Label(), Count: i + 1})
				continue
			}
			p.add(at, before, line)
			last = line
		}
		return p, nil
	})
}

// generation returns a message's extra.gen_id, nil if that is not a text.
func generation(line []byte) []byte {
	if id := rawjson.Value(line, "extra", "gen_id"); rawjson.KindOf(id) == rawjson.String {
		return id
	}
	return nil
}

func sendDate(t time.Time) []byte { return rawjson.Quote(sendate.Format(t)) }

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
		o.result.Warn("%s: %s left without the reply, the first in message %d", o.chat.Label(), plural.Of(len(left), "tool call is", "tool calls are"), left[0].From)
		return nil
	}

	o.result.Tell(ops.Fact{Kind: ops.FactToolCalls, Path: o.chat.Label(), Count: len(left)})
	more, err := o.chosen(ctx, scanning{Choice: choose.Choice{Ranges: left}})
	p.Delete = append(p.Delete, more...)
	return err
}

// HideOptions says which messages to hide from the prompt, or to show again.
type HideOptions struct {
	Options
	Choice choose.Choice
	Hide   bool
	All    bool // also messages with extra.type, and calls of tools
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
	extra := rawjson.Value(line, "extra")
	hasType := rawjson.Truthy(rawjson.Value(extra, "type"))
	isCall := message.HoldsCalls(rawjson.Value(extra, "tool_invocations"))
	if !opt.All && (hasType || isCall) {
		return line, nil
	}
	return message.SetSystem(line, opt.Hide), nil
}
