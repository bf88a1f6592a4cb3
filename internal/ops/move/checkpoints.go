package move

import (
	"context"
	"slices"
	"strings"
	"time"

	"stchat/internal/chat"
	"stchat/internal/family"
)

// Spent says which checkpoints are deleted of those that have no message of their own.
type Spent struct {
	Before time.Time // last changed before; zero: whenever
	Newest int       // so many of each parent stay
}

// Kept is a checkpoint that is not deleted.
type Kept struct {
	Path string `json:"path" is:"path"`
	Why  string `json:"why"`
}

// DeleteCheckpoints is [Delete] for those of the chats that are checkpoints, hold nothing that
// their parent lacks, and that nothing needs. It returns a result for each chat deleted, and
// the checkpoints that stay; all is judged before anything goes.
func DeleteCheckpoints(ctx context.Context, opt DeleteOptions, spent Spent) (results []*Result, kept []Kept) {
	for _, n := range deleteChosen(ctx, opt, func(n *renameSet, list []*family.Chat) (goes []*family.Chat, err error) {
		for _, c := range list {
			if c.Role != family.CheckpointRole {
				continue
			}
			why, err := n.needed(ctx, c, spent)
			if err != nil {
				return nil, err
			}
			if why == "" {
				goes = append(goes, c)
			} else {
				n.kept = append(n.kept, Kept{c.Path, why})
			}
		}
		return goes, nil
	}) {
		if kept = append(kept, n.kept...); n.r.Err != nil || len(n.goes) > 0 {
			results = append(results, n.results...)
		}
	}
	slices.SortFunc(kept, func(a, b Kept) int { return strings.Compare(a.Path, b.Path) })
	return results, kept
}

// needed returns why a checkpoint stays, "" if it may go.
func (f *folder) needed(ctx context.Context, c *family.Chat, spent Spent) (why string, err error) {
	newer := 0
	for _, other := range c.Parent.Children {
		if other.Role == family.CheckpointRole && other != c && (other.Stamp.ModTime().After(c.Stamp.ModTime()) || other.Stamp.ModTime().Equal(c.Stamp.ModTime()) && other.Name > c.Name) {
			newer++
		}
	}
	switch {
	case len(c.Children) > 0:
		return "has a child", nil
	case f.graph.Current(c):
		return "is open", nil
	case !spent.Before.IsZero() && !c.Stamp.ModTime().Before(spent.Before):
		return "too young", nil
	case newer < spent.Newest:
		return "one of the newest", nil
	}
	of := make([]*chat.Chat, 2)
	for i, path := range []string{c.Parent.Path, c.Path} {
		if of[i], err = chat.Open(ctx, path, chat.Options{Groups: f.lib, Any: true}); err != nil {
			return "", err
		}
		defer of[i].Close()
	}
	own, err := chat.OwnMessages(ctx, of[0], of[1])
	if own > 0 {
		why = "has messages of its own"
	}
	return why, err
}
