package repair

import (
	"context"
	"fmt"
	"strings"

	"stchat/internal/folder/rules"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/reline"
)

// ErrNothingLeft means that a chat has damage and not one message besides, so that repair would
// leave an empty chat.
var ErrNothingLeft = error(&ops.Kind{
	Code: "refused",
	Text: "repair would leave no message, as no line of the file can be read as one; look for an older version with 'stchat lost', or in SillyTavern's backups",
})

// ErrFewerLeft means that repair would leave fewer messages than can be read in the file.
var ErrFewerLeft = error(&ops.Kind{
	Code: "refused",
	Text: "repair leaves it alone rather than lose messages that can be read; fix it by hand, or look for an older version with 'stchat lost'",
})

// onDamage returns the rules by which damaged lines are taken out.
func onDamage() rules.Set {
	return rules.SetOf(rules.NUL, rules.InvalidJSON, rules.TornTail, rules.NotAnObject, rules.TooDeep)
}

// guard returns why a chat's damage must not be taken out by the wanted rules, nil if it may be.
func guard(c *rules.Chat, want rules.Set) error {
	if c.NothingLeft {
		return fmt.Errorf("%s: %w", c.Path, ErrNothingLeft)
	}
	return unread(c, want)
}

// unread returns why a chat must not be repaired by the wanted rules alone: its messages can only be
// read by others, and these would take them for damage. It returns nil if that is not so.
func unread(c *rules.Chat, want rules.Set) error {
	missing := c.OnReading().Without(want)
	if missing.IsEmpty() {
		return nil
	}
	var names []string
	for _, id := range rules.All() {
		if missing.Has(id) {
			names = append(names, id.String())
		}
	}
	return fmt.Errorf("%s: not all its messages can be read before it is repaired by %s, too", c.Path, strings.Join(names, " and "))
}

// keepsAll returns why the repaired chat must not be written, nil if it may be: it would have fewer
// messages than can be read in the file, since what stands between them hides where they begin. left
// counts those that it would have.
func (p *plan) keepsAll(ctx context.Context, file jsonl.Source, left int) error {
	can, err := reline.Messages(ctx, file)
	if err != nil {
		return err
	}
	if left < can {
		return fmt.Errorf("%s: %d of %d messages would be left: %w", p.path, left, can, ErrFewerLeft)
	}
	return nil
}

// convert tells what is done to read the file as lines, and keeps what is left out. file is the file
// itself.
func (p *plan) convert(file jsonl.Source, lost *quarantine) error {
	r := p.chat.Reading
	if r == nil {
		return nil
	}
	if r.Encoding != reline.UTF8 {
		at := step{rules.UTF16, 1, noMessage}
		p.done.add(at, fmt.Sprintf("converted the file from %s to UTF-8", r.Encoding), nil, nil)
		if len(r.Tail) > 0 {
			if err := lost.add(at, "the file's last byte, which is half a character", r.Tail); err != nil {
				return err
			}
		}
	}

	if r.HasLayout() {
		change := fmt.Sprintf("put each object on a line of its own: %d", r.Whole)
		p.done.add(step{rules.JSONLayout, r.First, noMessage}, change, nil, nil)
	}
	for _, j := range r.Joined {
		change := "put what is behind or before the object on a line of its own"
		if j.Objects > 1 {
			change = fmt.Sprintf("put each object on a line of its own: %d", j.Objects)
		}
		p.done.add(step{rules.JoinedLines, j.Line, noMessage}, change, nil, nil)
	}

	for _, torn := range r.Torn {
		raw, err := r.Section(file, torn)
		if err != nil {
			return err
		}
		at := step{rules.InvalidJSON, torn.Line, noMessage}
		p.done.add(at, "moved an object that is not whole to the .damaged file: "+torn.Reason, raw, nil)
		if err := lost.add(at, torn.Reason, raw); err != nil {
			return err
		}
	}
	return nil
}

// line returns the line of the file for a line of its view.
func (p *plan) line(n int) int {
	in, _ := p.chat.Reading.Place(p.view.line(n))
	return in
}
