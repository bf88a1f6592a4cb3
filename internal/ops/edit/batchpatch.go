package edit

import (
	"context"
	"errors"
	"fmt"
	"time"

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

// ApplyPatch applies a patch to the list of messages, one operation after the other, as Luker's
// /api/chats/patch does: add, remove, replace and test. An add of a message equal to the one
// already there changes nothing, like a test.
func ApplyPatch(ctx context.Context, opt PatchOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		g := &game{open: o}
		if err := o.chooseAndCount(ctx, choose.Choice{}, func(at choose.Place) error {
			g.places = append(g.places, at)
			return nil
		}); err != nil {
			return nil, err
		}
		g.list = newSequence(len(g.places))
		for i, op := range opt.Patch {
			if err := g.play(ctx, &op); err != nil {
				return nil, o.errorf("operation %d, %s: %w", i, op.Op, err)
			}
		}
		return g.plan(ctx)
	})
}

// game is a list of messages that a patch is applied to.
type game struct {
	open   *open
	places []choose.Place
	list   *sequence

	speakers cast // read if a message does not name its speaker
	added    int
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
		at = g.list.len()
	}
	switch {
	case !ok && !end:
		return fmt.Errorf("%w: %q is not a message number", patch.ErrMalformed, op.Path[0])
	case at > g.list.len(), at == g.list.len() && (op.Op != "add" || len(op.Path) > 1):
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
	if failed, ok := errors.AsType[*patch.OperationError](err); ok {
		return fmt.Errorf("message %d: %w", at, failed.Err)
	}
	if err != nil {
		return err
	}
	g.put(at, edited)
	return nil
}

// whole applies an operation to a whole message.
func (g *game) whole(ctx context.Context, at int, op *patch.Operation) error {
	var line []byte
	var err error
	if at < g.list.len() {
		if line, err = g.line(at); err != nil {
			return err
		}
	}
	switch op.Op {
	case "remove":
		g.list.put(at, 1, stretch{})
	case "replace":
		g.put(at, op.Value)
	case "test":
		if !metadiff.Equal(line, op.Value) {
			return patch.ErrTest
		}
	case "add":
		if line != nil && metadiff.Equal(line, op.Value) {
			return nil
		}
		fresh, err := g.completed(ctx, op.Value)
		if err != nil {
			return err
		}
		g.list.put(at, 0, stretch{index: -1, n: 1, line: fresh})
	}
	return nil
}

// completed returns an object as the line of a new message.
func (g *game) completed(ctx context.Context, object []byte) ([]byte, error) {
	if _, ok := rawjson.Lookup(object, "name"); !ok && g.speakers.last == nil {
		all, err := castOf(ctx, g.open)
		if err != nil {
			return nil, err
		}
		g.speakers.last, g.speakers.owner = all.last, all.owner
	}
	line, _, err := (&cast{last: g.speakers.last, owner: g.speakers.owner}).completed(object, g.open.opt.Changes.Now.Add(time.Duration(g.added)*time.Millisecond))
	g.added++
	return line, err
}

// put gives a message another line.
func (g *game) put(at int, line []byte) {
	g.list.put(at, 1, stretch{index: g.list.at(at).index, n: 1, line: line})
}

// line returns a message in its current state.
func (g *game) line(at int) ([]byte, error) {
	s := g.list.at(at)
	if s.line != nil {
		return s.line, nil
	}
	p := g.places[s.index]
	return g.open.chat.Source.Section(p.Off, p.Len)
}

// plan returns the changes that the patch amounts to.
func (g *game) plan(ctx context.Context) (*Plan, error) {
	p := &Plan{Taints: true}
	lines := map[int][]byte{}
	p.Edits = func() Edits {
		return func(index int) Edit {
			return func(line []byte) ([]byte, error) { return judged(line, lines[index]) }
		}
	}
	next, at := 0, 0 // of the chat's messages, and of the list's
	for s := range g.list.all() {
		if s.index < 0 {
			line, err := g.completed(ctx, s.line) // operations may have changed it since it came
			if err != nil {
				return nil, g.open.errorf("message %d: %w", at, err)
			}
			p.Add = append(p.Add, Insertion{next, line})
			at++
			continue
		}
		for ; next < s.index; next++ {
			p.Delete = append(p.Delete, g.places[next])
		}
		next, at = next+s.n, at+s.n
		if s.line != nil {
			p.Change = append(p.Change, g.places[s.index])
			lines[s.index] = s.line
		}
	}
	for ; next < len(g.places); next++ {
		p.Delete = append(p.Delete, g.places[next])
	}
	return p, nil
}
