package cut

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stchat/internal/autorecap"
	"stchat/internal/chat"
	"stchat/internal/isolate"
	"stchat/internal/lorebook"
	"stchat/internal/rawjson"
)

// stateAtLast reads, in one pass, what isolation, snapshots and requirements need of the
// messages, which also finds the last message. The facts are nil if nothing is needed.
func stateAtLast(ctx context.Context, opt *Options, src *chat.Chat, known last) (*isolate.Facts, last, error) {
	known, err := findLast(ctx, opt, src, known)
	if err != nil || !opt.needsState() {
		return nil, known, err
	}
	at := opt.At
	if known.index >= 0 {
		at = known.index
	}
	state, err := isolate.Scan(ctx, src.Source, isolate.Options{
		From: src.Body, Line: src.BodyLine, At: at, Workers: opt.workers(), Progress: opt.Meter.Follow(),
	})
	out, outside := errors.AsType[*isolate.RangeError](err)
	if err != nil && !outside {
		return nil, known, src.Errorf("%w", err)
	}
	if at < 0 {
		// the copy stops at the last message and does not see damage after it
		if known.whole, known.damage = true, state.Damage; known.damage.Total > 0 && !opt.SkipDamaged {
			return nil, known, src.DamageError(known.damage.First[0])
		}
	}
	if outside {
		return nil, known, outOfRange(opt, src, out.Messages)
	}
	known.index = state.At
	if opt.Message == nil {
		return state, known, nil
	}
	// the state at the last message is that after its edit
	copied, err := copyTo(ctx, opt, nil, src, known)
	if err != nil {
		return nil, known, err
	}
	line, err := edited(opt, src, copied.Last[0])
	if err != nil {
		return nil, known, err
	}
	state.Choose(line)
	return state, known, nil
}

// judge refuses a chat whose state at the last message is not as required.
func judge(c *call, src *chat.Chat, md *rawjson.Object, state *isolate.Facts, at int) error {
	if len(c.opt.Require) == 0 {
		return nil
	}
	book, err := judgedBook(c, src, md)
	if err != nil {
		return err
	}
	results, err := autorecap.Judge(c.opt.Require, autorecap.State{At: at, Scene: state.Scene(), Metadata: md, Book: book})
	if err != nil {
		return err
	}
	var broken []string
	for _, r := range results {
		if !r.Holds {
			broken = append(broken, r.String())
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return fmt.Errorf("not as %w at message %d: %s", ErrRequirement, at, strings.Join(broken, "; "))
}

// judgedBook returns the chat's lorebook, nil if it has none or the lorebook is missing.
func judgedBook(c *call, src *chat.Chat, md *rawjson.Object) (*lorebook.Book, error) {
	name, ok := lorebook.NameIn(md)
	if !ok {
		return nil, nil
	}
	if !src.HasDir {
		return nil, fmt.Errorf("%w, so the queue in its lorebook %q cannot be read", ErrNoUserFolder, name)
	}
	book, err := c.book(src.Dir, name)
	if errors.Is(err, lorebook.ErrMissing) {
		return nil, nil
	}
	return book, err
}

// keepRecap protects an Auto-Recap store in a chat without a parent: without main_chat the
// extension erases a recap whose chat_id is not the chat's (FORMATS.md B2.1).
func keepRecap(src *chat.Chat, name string, md *rawjson.Object, r *Result) {
	if _, ok := autorecap.RunningIn(md); !ok {
		return
	}
	if name == "" {
		r.Warn("%s: without main_chat Auto-Recap erases the recap in the new chat, unless its chat_id is the name the file gets", src.Label())
		return
	}
	if autorecap.OwnRunning(md, name) {
		r.Warn("%s: without main_chat Auto-Recap would erase the recap in the new chat, so its chat_id is set to %q", src.Label(), name)
	}
}
