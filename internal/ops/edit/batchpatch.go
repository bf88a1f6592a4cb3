package edit

import (
	"context"
	"fmt"

	"stchat/internal/choose"
	"stchat/internal/metadiff"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

// PatchOptions says which RFC 6902 patch to apply to a chat's list of messages.
type PatchOptions struct {
	Options
	Patch []patch.Operation
}

// slot is a message while a patch is applied: one of the chat, or a new one.
type slot struct {
	index int    // in the chat; -1: new
	line  []byte // nil: as in the chat
}

// ApplyPatch applies a patch to the list of messages, one operation after the other, as Luker's
// /api/chats/patch does: add, remove, replace and test. An add of a message equal to the one
// already there changes nothing, like a test.
func ApplyPatch(ctx context.Context, opt PatchOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		g := &game{open: o}
		if err := o.chooseAndCount(ctx, choose.Choice{}, func(at choose.Place) error {
			g.places = append(g.places, at)
			g.list = append(g.list, slot{index: at.Index})
			return nil
		}); err != nil {
			return nil, err
		}
		for i, op := range opt.Patch {
			if err := g.play(ctx, &op); err != nil {
				return nil, o.errorf("operation %d, %s: %w", i, op.Op, err)
			}
		}
		return g.plan(), nil
	})
}

// game is a list of messages that a patch is applied to.
type game struct {
	open   *open
	places []choose.Place
	list   []slot

	speakers cast // read if a message does not name its speaker
}

func (g *game) play(ctx context.Context, op *patch.Operation) error {
	if op.Op == "move" || op.Op == "copy" {
		return fmt.Errorf("%w: Luker knows only add, remove, replace and test", patch.ErrMalformed)
	}
	if len(op.Path) == 0 {
		return fmt.Errorf("%w: the path names no message", patch.ErrMalformed)
	}
	end := op.Path[0] == "-"
	at, ok := patch.Index(op.Path[0])
	if end {
		at = len(g.list)
	}
	switch {
	case !ok && !end:
		return fmt.Errorf("%w: %q is not a message number", patch.ErrMalformed, op.Path[0])
	case at > len(g.list), at == len(g.list) && (op.Op != "add" || len(op.Path) > 1):
		return fmt.Errorf("%s: %w", op.Path, patch.ErrMissing)
	}
	if len(op.Path) > 1 {
		return g.within(at, op)
	}
	return g.whole(ctx, at, op)
}

// within applies an operation inside a message.
func (g *game) within(at int, op *patch.Operation) error {
	line, err := g.line(at)
	if err != nil {
		return err
	}
	inner := *op
	inner.Path = op.Path[1:]
	edited, err := patch.Apply(line, []patch.Operation{inner})
	if err != nil {
		return err
	}
	g.list[at].line = edited
	return nil
}

// whole applies an operation to a whole message.
func (g *game) whole(ctx context.Context, at int, op *patch.Operation) error {
	var line []byte
	var err error
	if at < len(g.list) {
		if line, err = g.line(at); err != nil {
			return err
		}
	}
	switch op.Op {
	case "remove":
		g.list = append(g.list[:at], g.list[at+1:]...)
	case "replace":
		g.list[at].line = op.Value
	case "test":
		if !metadiff.Equal(line, op.Value) {
			return patch.ErrTest
		}
	case "add":
		if line != nil && metadiff.Equal(line, op.Value) {
			return nil
		}
		if _, ok := rawjson.Lookup(op.Value, "name"); !ok && g.speakers.last == nil {
			all, err := castOf(ctx, g.open)
			if err != nil {
				return err
			}
			g.speakers.last = all.last
		}
		fresh, _, err := (&cast{last: g.speakers.last}).completed(op.Value, g.open.opt.Now)
		if err != nil {
			return err
		}
		g.list = append(g.list, slot{})
		copy(g.list[at+1:], g.list[at:])
		g.list[at] = slot{index: -1, line: fresh}
	}
	return nil
}

// line returns a message in its current state.
func (g *game) line(at int) ([]byte, error) {
	s := g.list[at]
	if s.line != nil {
		return s.line, nil
	}
	p := g.places[s.index]
	return g.open.chat.Source.Section(p.Off, p.Len)
}

// plan returns the changes that the patch amounts to.
func (g *game) plan() *Plan {
	p := &Plan{Taints: true}
	lines := map[int][]byte{}
	p.Edits = func(index int) Edit {
		return Edit{Line: func(line []byte) ([]byte, error) { return judged(line, lines[index]) }}
	}
	next := 0 // of the chat's messages
	for _, s := range g.list {
		if s.index < 0 {
			p.Add = append(p.Add, Insertion{next, s.line})
			continue
		}
		for ; next < s.index; next++ {
			p.Delete = append(p.Delete, g.places[next])
		}
		next++
		if s.line != nil {
			p.Change.add(g.places[s.index])
			lines[s.index] = s.line
		}
	}
	for ; next < len(g.places); next++ {
		p.Delete = append(p.Delete, g.places[next])
	}
	return p
}
