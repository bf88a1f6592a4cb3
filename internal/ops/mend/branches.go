package mend

import (
	"cmp"
	"context"

	"stchat/internal/family"
	"stchat/internal/ops"
	"stchat/internal/rules"
)

// branches finds where branches part from their parents, as their files are now.
type branches struct {
	checker *rules.Checker
	known   map[string]*rules.Chat // those that are mended, by the paths of their files
	parents map[string]*rules.Chat // others that were looked up, the same
	graphs  map[string]*family.Graph
}

// parting returns a chat's parent, nil where there is none, and its message at which the
// chat parts from it; at is below 0 where they share none.
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

// scan returns how a parent is judged, which need not be among what is mended.
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

// graph returns how the chats of a folder hang together as their files are now. A
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
