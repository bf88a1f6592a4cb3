package chat

import (
	"context"
	"errors"
	"fmt"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
)

// ErrNotChat means that a file is no chat by its name, or by its place and
// shape, so that no command may write into it or make a chat of it.
var ErrNotChat = errors.New("not a chat")

// CheckFile returns an error that wraps [ErrNotChat] if the file at path is no chat by its name, its
// place or its shape; see [CheckShape]. Elsewhere than where SillyTavern keeps chats, one without a
// surviving line is none. Other errors are those of reading.
func CheckFile(ctx context.Context, path string) error {
	if err := CheckName(path); err != nil {
		return err
	}
	return CheckContent(ctx, path)
}

// CheckContent is [CheckFile] for a file that may have any name, such as a copy of a chat.
func CheckContent(ctx context.Context, path string) error {
	f, stamp, err := OpenStamped(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if isInPlace(path) {
		return nil
	}
	src := jsonl.Source{R: f, Size: stamp.Size()}
	first, err := sample(ctx, path, src, 1)
	if err != nil {
		return err
	}
	if first.objects == 0 {
		return notChat(path)
	}
	return CheckShape(ctx, path, src, first.headers > 0)
}

// shapeLines is how many objects at the start of a file are checked for whether
// they are messages.
const shapeLines = 20

// CheckName returns an error that wraps [ErrNotChat] if path does not end in
// .jsonl, in any letter case.
func CheckName(path string) error {
	if path == Stdin || userdir.HasExtension(path) {
		return nil
	}
	return fmt.Errorf("%s: %w: its name does not end in %s", path, ErrNotChat, names.Extension)
}

// Refuse returns why there is no chat at a path that a folder does not list as one.
func Refuse(path string) error {
	f, err := OpenRegular(path)
	if err == nil {
		_ = f.Close() // only opened for what is wrong with it
		err = fmt.Errorf("%s: %w", path, ErrNotChat)
	}
	return err
}

// CheckShape returns an error that wraps [ErrNotChat] if a file is not where
// SillyTavern keeps chats and at most half of its first objects are messages. A
// message has a text mes, and a name or a boolean is_user. header says that the
// first surviving line is a header: then a text mes is enough, and if the header
// has chat_metadata the lines are not checked; a user_name alone may be in every
// line of a log. A file without other surviving lines passes: it shows nothing.
func CheckShape(ctx context.Context, path string, src jsonl.Source, header bool) error {
	if path == Stdin {
		return nil
	}
	if isInPlace(path) {
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
		all.objects-- // the header
		all.messages = all.texts
	}
	if all.objects <= 0 || 2*all.messages > all.objects {
		return nil
	}
	return notChat(path)
}

// isInPlace reports whether a file is where SillyTavern keeps chats.
func isInPlace(path string) bool {
	kind, _ := userdir.KindOf(userdir.Follow(path))
	return kind != userdir.File
}

func notChat(path string) error {
	return fmt.Errorf("%s: %w: it is not in a chats folder of SillyTavern, and its lines do not look like messages", path, ErrNotChat)
}

// sampled counts the first objects of a file, and those with a text mes, with that
// and a name or a boolean is_user, with chat_metadata, and that are headers.
type sampled struct{ objects, texts, messages, metadata, headers int }

// sample counts the first limit objects of a file.
func sample(ctx context.Context, path string, src jsonl.Source, limit int) (all sampled, err error) {
	err = jsonl.Map(ctx, src, jsonl.MapOptions{Limit: limit, Keys: jsonl.NewKeys("mes", "name", "is_user", "chat_metadata"), Workers: 1},
		func(l *jsonl.Line, n *sampled) {
			if l.Damage == nil {
				n.add(l)
			}
		},
		func(n *sampled, _ jsonl.Base, _ jsonl.Damages) error {
			all = sampled{all.objects + n.objects, all.texts + n.texts, all.messages + n.messages, all.metadata + n.metadata, all.headers + n.headers}
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
	if meta.IsHeader(l.Raw) {
		n.headers++
	}
}
