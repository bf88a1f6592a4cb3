package cut

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/family"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
)

// link drafts the link to the new chat on the last message it shares with the source, and
// returns the checkpoint that the message was linked to before.
func link(ctx context.Context, c *call, set *changeset.Set, j *job, at jsonl.Place) (old string, err error) {
	src := j.src
	edits, old, err := linkEdit(c.opt.Kind, src, j.name.File, at)
	if err != nil {
		return "", withKind(ErrLink, fmt.Errorf("%s:%d: message %d: %w", src.Label(), at.Line, at.Index, err))
	}
	if c.opt.Force && c.opt.Kind == names.Checkpoint {
		stale, err := staleLinks(ctx, src, j.name.File, at)
		if err != nil {
			return "", err
		}
		edits = append(edits, stale...)
	}

	if len(edits) == 0 {
		return old, nil
	}

	if len(j.sidecars) > 0 || c.opt.BumpIntegrity {
		slug := c.slugs.Get(j.drafted.linkedIn, c.opt.Changes.NewUUID)
		if src.Header != nil {
			edits = append(edits, family.HeaderEdit(func(md *rawjson.Object) { md.Set(keyIntegrity, rawjson.Quote(slug)) }))
		}
		if err := ops.SyncSlugs(set, j.sidecars, slug, c.opt.Changes.Now, "the source's new integrity, for Luker"); err != nil {
			return "", err
		}
	}
	return old, set.Edit(j.source, safefile.Stamp{}, changeset.Joined(j.source, edits), fmt.Sprintf("the link on its message %d", at.Index))
}

// linkEdit returns the edit that links name on a message, and the checkpoint that the message
// was linked to before. It returns no edit if the link is there already.
func linkEdit(kind names.Kind, src *chat.Chat, name string, at jsonl.Place) (edits chat.Lines, old string, err error) {
	isCheckpoint := kind == names.Checkpoint
	line, err := src.Source.Section(at.Off, at.Len)
	if err != nil {
		return nil, "", err
	}
	if at.Len > 4<<20 {
		defer debug.FreeOSMemory() // the line is read again when the edit is made
	}
	change, old, err := message.LinkSplice(line, isCheckpoint, name)
	if err != nil || change == nil {
		return nil, old, err
	}
	return chat.Lines{{Index: at.Index, Place: at, Hash: chat.HashLine(line), Do: func(line []byte) ([]byte, error) {
		s, _, err := message.LinkSplice(line, isCheckpoint, name)
		if err != nil || s == nil {
			return line, err
		}
		return slices.Replace(line, int(s.At), int(s.At+s.Len), s.Data...), nil // a long line is not copied
	}}}, old, nil
}

// staleLinks returns edits that remove links to the same checkpoint from other messages: a
// checkpoint that is made again hangs on only one message.
func staleLinks(ctx context.Context, src *chat.Chat, name string, at jsonl.Place) (all chat.Lines, err error) {
	opt := jsonl.MapOptions{From: src.Body, Line: src.BodyLine, Keys: jsonl.NewKeys("extra")}
	err = jsonl.Each(ctx, src.Source, opt, func(l *jsonl.Line, base jsonl.Base) error {
		extra, _ := l.Value(0)
		link, _ := rawjson.Unquote(rawjson.Value(extra, "bookmark_link"))
		isStale := link == name && l.Off != at.Off
		if l.Damage == nil && isStale {
			all = append(all, chat.LineEdit{
				Index: base.Index + l.Index, Place: jsonl.Place{Off: l.Off, Len: int64(len(l.Raw))}, Hash: chat.HashLine(l.Raw),
				Do: func(line []byte) ([]byte, error) { return rawjson.DeletePath(line, "extra", "bookmark_link"), nil },
			})
		}
		return nil
	})
	return all, err
}

// noteReplaced warns of checkpoints that messages are no longer linked to. When several new
// ones are linked from one message, each replaces the one before.
func noteReplaced(jobs []*job) {
	type message struct {
		source string
		at     int
	}
	linked := map[message]string{}
	for _, j := range jobs {
		r, d := j.res, &j.drafted
		if r.Err != nil || d.linkedIn == "" {
			continue
		}
		m := message{d.linkedIn, r.Doc.At}
		old, ok := linked[m]
		if !ok {
			old = d.replaced
		}
		linked[m] = j.name.File
		if old != "" && old != linked[m] {
			r.Doc.ReplacedLink = &old
			r.WarnOf(ops.Fact{Kind: ops.FactReplacedLink, Path: r.Doc.Source, Name: old, Count: r.Doc.At}, "%s: message %d was linked to the checkpoint %q; that link is replaced, its file is untouched", r.Doc.Source, r.Doc.At, old)
		}
	}
}
