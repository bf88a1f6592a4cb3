package move

import (
	"context"
	"errors"

	"stchat/internal/family"
)

// noteSpeakers notes which of the chats that go to another character have no message with
// that character's name.
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
