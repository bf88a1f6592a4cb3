package mend

import (
	"cmp"
	"context"

	"stchat/internal/family"
	"stchat/internal/ops"
	"stchat/internal/rules"
)

// branches finds where branches part from their parents, in the files as they are now.
type branches struct {
	checker *rules.Checker
	known   map[string]*rules.Chat // the surveyed chats, by the paths of their files
	parents map[string]*rules.Chat // other chats that were looked up, likewise
	graphs  map[string]*family.Graph
}

// parting returns a chat's parent, nil if there is none, and the parent's message at which the
// chat parts from it; at is negative if they share none.
func (b *branches) parting(ctx context.Context, c *rules.Chat) (parent *family.Chat, at int, err error) {
	g, err := b.graph(ctx, c.Folder)
	if err != nil {
		return nil, 0, ops.PathError(err)
	}
	child, parent := g.Find(c.Name), g.Find(c.MainChat)
	if child == nil || parent == nil {
		return nil, 0, nil
	}
	if parent.Err != nil {
		return nil, 0, ops.PathError(parent.Err)
	}
	return parent, family.PointOf(child.Messages, parent.Messages).AtParent, nil
}

// scan returns the judged parent, which need not be among the surveyed chats.
func (b *branches) scan(ctx context.Context, parent *family.Chat) (*rules.Chat, error) {
	if c := cmp.Or(b.known[parent.Path], b.parents[parent.Path]); c != nil {
		return c, nil
	}
	c, err := b.checker.Scan(ctx, parent.Path, rules.ScanOptions{})
	if err != nil {
		return nil, ops.PathError(err)
	}
	b.parents[parent.Path] = c
	return c, nil
}

// graph returns how the chats of a folder are related, in the files as they are now. Each
// folder is read once.
func (b *branches) graph(ctx context.Context, folder string) (*family.Graph, error) {
	if g := b.graphs[folder]; g != nil {
		return g, nil
	}
	graphs, err := family.Read(ctx, &b.checker.Around.Library, []string{folder}, family.Options{})
	if err != nil {
		return nil, err
	}
	b.graphs[folder] = graphs[0]
	return graphs[0], nil
}
