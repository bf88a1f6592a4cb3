package cut

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"stchat/internal/chat"
	"stchat/internal/family"
	"stchat/internal/library"
	"stchat/internal/names"
	"stchat/internal/ops"
)

// findNamed finds the message at which a source links to a checkpoint or branch, or else the
// last message that the two share (FAMILY.md 1.1).
func findNamed(ctx context.Context, opt *Options, source string) (last, error) {
	none := last{index: -1}
	if source == chat.Stdin {
		return none, fmt.Errorf("%s: %w: a chat from standard input has no relatives", label(source), ErrNoPoint)
	}
	graphs, err := family.Read(ctx, new(library.Library), []string{filepath.Dir(source)}, family.Options{})
	if err != nil {
		return none, ops.PathError(err)
	}
	g := graphs[0]
	at := slices.IndexFunc(g.Chats, func(c *family.Chat) bool { return filepath.Base(c.Path) == filepath.Base(source) })
	if at < 0 {
		return none, nil // opening it will report why
	}
	subject := g.Chats[at]
	wanted := g.Find(opt.AtName)
	noted := -1
	for _, l := range subject.Links {
		if safe, err := names.Sanitize(l.Name); l.Name != opt.AtName && (err != nil || safe != opt.AtName) && (wanted == nil || g.Find(l.Name) != wanted) {
			continue
		}
		if noted >= 0 && noted != l.Index {
			return none, fmt.Errorf("%s: %w: it notes %q at the messages %d and %d", source, ErrNoPoint, opt.AtName, noted, l.Index)
		}
		noted = l.Index
	}
	if noted >= 0 {
		return last{index: noted}, nil
	}
	if wanted == nil {
		return none, fmt.Errorf("%s: %w: there is no chat %q beside it, and no message notes one", source, ErrNoPoint, opt.AtName)
	}
	point := family.PointOf(wanted.Messages, subject.Messages)
	if point.At < 0 {
		return none, fmt.Errorf("%s: %w: it shares no message with %q", source, ErrNoPoint, opt.AtName)
	}
	return last{index: point.AtParent}, nil
}
