package move

import (
	"context"
	"errors"

	"stchat/internal/chat"
	"stchat/internal/family"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// noteSpeakers notes of each chat that goes to another character that no message bears
// that one's name.
func noteSpeakers(ctx context.Context, n *naming, goes []*family.Chat) error {
	if n.elsewhere.group != nil {
		return nil
	}
	for _, c := range goes {
		speaks, err := n.folder.speaks(ctx, c, n.elsewhere.name)
		if err != nil {
			return err
		}
		if !speaks {
			n.r.Note("%s: no message bears the name of %q; messages keep their speakers' names", c.Path, n.elsewhere.name)
		}
	}
	return nil
}

var errSpeaks = errors.New("found")

// speaks reports whether a message of a chat bears a name; of a chat without messages it
// is true.
func (f *folder) speaks(ctx context.Context, c *family.Chat, name string) (bool, error) {
	if len(c.Messages) == 0 {
		return true, nil
	}
	open, err := chat.Open(ctx, c.Path, chat.Options{Groups: f.lib})
	if err != nil {
		return false, err
	}
	defer open.Close()
	err = jsonl.Map(ctx, open.Source, jsonl.MapOptions{From: open.Body, Line: open.BodyLine, Limit: -1, Keys: jsonl.NewKeys("name")},
		func(l *jsonl.Line, found *bool) {
			if l.Damage == nil && !*found {
				raw, _ := l.Value(0)
				by, _ := rawjson.Unquote(raw)
				*found = by == name
			}
		},
		func(found *bool, _ jsonl.Base, _ jsonl.Damages) error {
			if *found {
				return errSpeaks
			}
			return nil
		}, func(found *bool) { *found = false })
	if errors.Is(err, errSpeaks) {
		return true, nil
	}
	return false, err
}
