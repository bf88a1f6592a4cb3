package chat

import (
	"context"
	"errors"
	"fmt"

	"stchat/internal/jsonl"
	"stchat/internal/names"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

// ErrNotChat means that a file is no chat by its name, or by its place and
// shape, so that no command may write into it or make a chat of it.
var ErrNotChat = errors.New("not a chat")

// shapeLines is how many objects at the start of a file are looked at to tell
// whether they are messages.
const shapeLines = 20

// CheckName is [ErrNotChat] for a path that does not end in .jsonl, in
// whatever letter case.
func CheckName(path string) error {
	if path == Stdin || userdir.HasExtension(path) {
		return nil
	}
	return fmt.Errorf("%s: %w: its name does not end in %s", path, ErrNotChat, names.Extension)
}

// CheckShape is [ErrNotChat] for a file that is elsewhere than where
// SillyTavern keeps chats, and of whose first objects most are no messages:
// they lack a text mes, or both a name and a boolean is_user. header says that
// its first surviving line is a header: then a text mes is enough, and nothing is
// asked of the lines where the header has chat_metadata; a user_name alone is what
// a log may have in every line. A file of which no other line survives shows
// nothing: it passes, having nothing to be made a chat of.
func CheckShape(ctx context.Context, path string, src jsonl.Source, header bool) error {
	if path == Stdin {
		return nil
	}
	if kind, _ := userdir.KindOf(userdir.Follow(path)); kind != userdir.File {
		return nil
	}
	if header {
		if first, err := sample(ctx, path, src, 1); err != nil || first.metadata > 0 {
			return err
		}
	}
	all, err := sample(ctx, path, src, shapeLines)
	if err != nil {
		return err
	}
	if header {
		all.objects-- // which the header is
		all.messages = all.texts
	}
	if all.objects <= 0 || 2*all.messages > all.objects {
		return nil
	}
	return fmt.Errorf("%s: %w: it is in no chats folder of SillyTavern, and its lines do not look like messages", path, ErrNotChat)
}

// sampled counts what the first objects of a file have: a text mes, this with a
// name or a boolean is_user, chat_metadata.
type sampled struct{ objects, texts, messages, metadata int }

// sample looks at the first objects of a file.
func sample(ctx context.Context, path string, src jsonl.Source, limit int) (all sampled, err error) {
	err = jsonl.Map(ctx, src, jsonl.MapOptions{Limit: limit, Keys: jsonl.NewKeys("mes", "name", "is_user", "chat_metadata"), Workers: 1},
		func(l *jsonl.Line, n *sampled) {
			if l.Damage == nil {
				n.add(l)
			}
		},
		func(n *sampled, _ jsonl.Base, _ jsonl.Damages) error {
			all = sampled{all.objects + n.objects, all.texts + n.texts, all.messages + n.messages, all.metadata + n.metadata}
			return nil
		},
		func(n *sampled) { *n = sampled{} })
	if err != nil {
		return all, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// add counts a line. Its keys are those of [sample].
func (n *sampled) add(l *jsonl.Line) {
	n.objects++
	mes, _ := l.Value(0)
	_, name := l.Value(1)
	user, _ := l.Value(2)
	if rawjson.KindOf(mes) == rawjson.String {
		n.texts++
		if name || rawjson.KindOf(user) == rawjson.Bool {
			n.messages++
		}
	}
	if _, ok := l.Value(3); ok {
		n.metadata++
	}
}
