package move

import (
	"context"
	"fmt"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/group"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// Opened describes the change of a card or group file: the document of open.
type Opened struct {
	Schema  int    `json:"schema"`
	Path    string `json:"path" is:"path"` // the chat
	Card    string `json:"card" is:"path"` // or the group file
	From    string `json:"from"`
	To      string `json:"to"`
	Changed bool   `json:"changed"`
	DryRun  bool   `json:"dry_run"`
	ops.Written
}

// OpenResult is the result for one chat.
type OpenResult = ops.Result[Opened]

// ErrNoOwner means that a chat is in no user folder, so it has no owner.
var ErrNoOwner = error(&ops.Kind{Code: "refused", Text: "the chat is not in a SillyTavern user folder"})

// Open makes each chat the one that its character or group opens with. It returns a result
// for each, in the same order.
func Open(ctx context.Context, opt Options, chats []string) []*OpenResult {
	lib := new(library.Library)
	results := ops.Each(ctx, opt.Changes, chats, func(path string) (*OpenResult, changeset.Unit) {
		r := &OpenResult{Doc: Opened{Schema: 1, Path: path, DryRun: opt.Changes.DryRun}}
		return r, changeset.Unit{Root: changeset.RootOf(path), Draft: func(ctx context.Context, s *changeset.Set) error { return open(ctx, lib, path, r, s) }}
	})
	for _, r := range results {
		r.Doc.Changed = len(r.Steps) > 0
	}
	return results
}

func open(ctx context.Context, lib *library.Library, path string, r *OpenResult, s *changeset.Set) error {
	c, err := ops.Open(ctx, lib, path, ops.Anything, chat.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	if !c.HasDir || c.Kind == userdir.File {
		return c.Errorf("%w", ErrNoOwner)
	}
	r.Doc.To = c.Name
	if c.Kind == userdir.Group {
		if len(c.Groups) == 0 {
			return c.Errorf("%w", ErrNotListed)
		}
		g := c.Groups[0]
		r.Doc.Card, r.Doc.From = g.Path, g.ChatID
		return s.Edit(g.Path, safefile.Stamp{}, &group.Edit{Path: g.Path, Open: c.Name}, fmt.Sprintf("the chat that is open: %q", c.Name))
	}
	known, err := ops.CardOf(c.Dir, c.Owner)
	if err != nil {
		return err
	}
	r.Doc.Card, r.Doc.From = known.Path, known.Chat
	return ops.OpenInCard(s, known, c.Name)
}
