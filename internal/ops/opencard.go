package ops

import (
	"fmt"

	"stchat/internal/card"
	"stchat/internal/changeset"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// CardOf reads the card of the character whose chat folder has the given name.
func CardOf(dir userdir.Dir, folder string) (*card.Card, error) {
	path, err := card.Find(dir, folder)
	if err != nil {
		return nil, err
	}
	return card.Open(path)
}

// OpenInCard drafts an edit of the card that makes its character open with chat.
func OpenInCard(s *changeset.Set, c *card.Card, chat string) error {
	return s.Edit(c.Path, safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) {
		now, err := card.Parse(old, c.Path)
		if err != nil {
			return nil, err
		}
		return now.WithChat(chat)
	}), fmt.Sprintf("the chat that is open: %q", chat))
}
