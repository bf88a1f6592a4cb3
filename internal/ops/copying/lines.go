package copying

import (
	"bufio"
	"context"

	"stchat/internal/change/changeset"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
	"stchat/internal/text/progress"
)

// Numbers of the keys of a message that are looked at.
const (
	keyName = iota
	keyUser
	keySystem
	keyExtra
	keySwipeInfo
	keyAvatar
	keyForced
)

// messageKeys are these keys.
func messageKeys() *jsonl.Keys {
	return jsonl.NewKeys("name", "is_user", "is_system", "extra", "swipe_info", "original_avatar", "force_avatar")
}

// writer writes a new chat.
type writer struct {
	draft    *changeset.Draft
	buffer   *bufio.Writer
	messages int
}

// edit returns the message on a line as the new chat has it, with index i.
type edit func(l *jsonl.Line, i int) []byte

// newWriter begins a new chat with its header.
func newWriter(draft *changeset.Draft, header *meta.Header) (*writer, error) {
	w := &writer{draft: draft, buffer: bufio.NewWriterSize(draft, 256<<10)}
	_, err := w.buffer.Write(header.Bytes())
	return w, err
}

// copy writes all messages of a chat, each as edit returns it. A damaged line refuses the chat.
func (w *writer) copy(ctx context.Context, src *chat.Chat, meter *progress.Meter, edit edit, r *Result) error {
	bad, firstBad := 0, 0
	opt := jsonl.MapOptions{From: src.Body, Line: src.BodyLine, Keys: messageKeys(), Progress: meter.Follow()}
	var refused error // of a line, or of writing it, and not of reading
	err := jsonl.Each(ctx, src.Source, opt, func(l *jsonl.Line, base jsonl.Base) error {
		if l.BadUTF8 {
			if bad++; bad == 1 {
				firstBad = base.Index + l.Index
			}
		}
		refused = w.line(src, l, base, edit)
		return refused
	})

	switch {
	case refused != nil:
		return refused
	case err != nil:
		return src.Errorf("%w", err)
	}

	if bad > 0 {
		r.Warn("%s: bytes that are not valid UTF-8 in %s, first in message %d; they are kept as they are, and SillyTavern writes U+FFFD for them at its next save",
			src.Label(), plural.S(bad, "message"), firstBad)
	}
	return src.Unchanged()
}

// line writes a message.
func (w *writer) line(src *chat.Chat, l *jsonl.Line, base jsonl.Base, edit edit) error {
	if l.Damage != nil {
		damage := *l.Damage
		damage.Line = base.Line + l.Number + 1
		return src.DamageError(damage)
	}
	_ = w.buffer.WriteByte('\n') // an error stays
	_, err := w.buffer.Write(edit(l, w.messages))
	w.messages++
	return err
}

// finish ends the chat, and notes in the document how long it is.
func (w *writer) finish(r *Result) error {
	err := w.buffer.Flush()
	r.Doc.Messages = w.messages
	r.Doc.At = w.messages - 1
	r.Doc.Bytes = w.draft.Size()
	return err
}

// unlinked returns a message without its links, also those of its swipes, to checkpoints and branches
// that keep does not keep, and counts it if there were any.
func unlinked(l *jsonl.Line, keep func(name string) bool, counted *int) []byte {
	extra, _ := l.Value(keyExtra)
	infos, _ := l.Value(keySwipeInfo)
	if !message.MayLink(extra, l.Plain) && !message.MayLink(infos, l.Plain) {
		return l.Raw
	}
	line := message.EditLinks(l.Raw, func(_ bool, name string) (string, bool) { return name, keep(name) })
	if len(line) != len(l.Raw) {
		*counted++
	}
	return line
}
