package cut

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/family"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
)

// mayLink refuses a link that cannot be made, before anything is drafted.
func mayLink(opt *Options, src *chat.Chat, p *plan, isLuker bool) error {
	if !opt.Link {
		return nil
	}
	// a link is a name in the source's own folder, wherever a symlink to it lies
	beside, err := sameFolder(filepath.Dir(userdir.RealPath(p.source)), filepath.Dir(p.path))
	if err != nil {
		return ops.PathError(err)
	}
	if !p.beside || !beside {
		return src.Errorf("%w", ErrLinkElsewhere)
	}
	if err := safefile.CanReplace(p.source); err != nil {
		return withKind(ErrLink, ops.PathError(err))
	}
	switch {
	case opt.BumpIntegrity && src.Header == nil:
		return src.Errorf("%w", ErrNoSlug)
	case (opt.BumpIntegrity || isLuker) && src.HeaderKind == chat.Damaged:
		return withKind(ErrLink, src.Errorf("a new slug in the damaged header would lose what is left of it; repair the chat first"))
	}
	return nil
}

// link drafts the link to the new chat on the last message it shares with the source, and
// returns the checkpoint that the message was linked to before.
func link(ctx context.Context, c *call, set *changeset.Set, src *chat.Chat, p *plan, sidecars []luker.Sidecar, at jsonl.Place, real string) (old string, err error) {
	edits, old, err := linkEdit(c.opt.Kind, src, p.name.File, at)
	if err != nil {
		return "", withKind(ErrLink, fmt.Errorf("%s:%d: message %d: %w", src.Label(), at.Line, at.Index, err))
	}
	if c.opt.Force && c.opt.Kind == names.Checkpoint {
		stale, err := staleLinks(ctx, src, p.name.File, at)
		if err != nil {
			return "", err
		}
		edits = append(edits, stale...)
	}
	if len(edits) == 0 {
		return old, nil
	}
	if len(sidecars) > 0 || c.opt.BumpIntegrity {
		slug := c.slugs.Get(real, c.opt.Changes.NewUUID)
		if src.Header != nil {
			edits = append(edits, family.HeaderEdit(func(md *rawjson.Object) { md.Set(keyIntegrity, rawjson.Quote(slug)) }))
		}
		if err := ops.SyncSlugs(set, sidecars, slug, c.opt.Changes.Now, "the source's new slug, for Luker"); err != nil {
			return "", err
		}
	}
	return old, set.Edit(p.source, safefile.Stamp{}, changeset.Joined(p.source, edits), fmt.Sprintf("the link on its message %d", at.Index))
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
		if link, _ := rawjson.Unquote(rawjson.Value(extra, "bookmark_link")); l.Damage == nil && l.Off != at.Off && link == name {
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
func noteReplaced(plans []*plan) {
	type message struct {
		source string
		at     int
	}
	linked := map[message]string{}
	for _, p := range plans {
		r, d := p.res, &p.drafted
		if r.Err != nil || d.linkedIn == "" {
			continue
		}
		m := message{d.linkedIn, r.Doc.At}
		old, ok := linked[m]
		if !ok {
			old = d.replaced
		}
		linked[m] = p.name.File
		if old != "" && old != linked[m] {
			r.Doc.ReplacedLink = &old
			r.Warn("%s: message %d was linked to the checkpoint %q; that link is replaced, its file is untouched", r.Doc.Source, r.Doc.At, old)
		}
	}
}

// sidecarsOf returns the source's Luker sidecars (FORMATS.md A1, A2).
func sidecarsOf(c *call, src *chat.Chat, p *plan, r *Result) ([]luker.Sidecar, error) {
	if p.source == chat.Stdin {
		return nil, nil
	}
	folder := c.library.Folder(filepath.Dir(p.source))
	if p.beside && folder.Err != nil {
		return nil, ops.PathError(folder.Err)
	}
	list := folder.Sidecars(src.Name)
	if !p.beside {
		for _, s := range list {
			leave(s, "", r)
		}
		if len(list) > 0 {
			r.Warn("%s: the new chat is not beside its source, so Luker's state (%s) does not go with it", src.Label(), plural.S(len(list), "sidecar"))
		}
		return nil, nil
	}
	if left := folder.Sidecars(userdir.ChatName(p.path)); len(left) > 0 {
		return nil, fmt.Errorf("%s: there is Luker state of a chat of this name already, which the new chat would take for its own; remove it or choose another name", left[0].Path)
	}
	return list, nil
}

// cutSidecars drafts the new chat's sidecars once its last message is known.
func cutSidecars(opt *Options, set *changeset.Set, src *chat.Chat, p *plan, sidecars []luker.Sidecar, at int, r *Result) error {
	for _, s := range sidecars {
		path := filepath.Join(filepath.Dir(p.path), luker.SidecarName(p.name.File, s.Namespace))
		switch s.Kind {
		case luker.FloorLog:
			kept, dropped, err := p.cutLog(set, s.Path, path, at+1)
			if err != nil {
				return err
			}
			if kept == 0 {
				r.Doc.sidecar(s.Path, SidecarEmpty)
				continue
			}
			r.Doc.sidecar(path, SidecarCut)
			r.Doc.State = append(r.Doc.State, extension.Change{Extension: "luker", Change: fmt.Sprintf("%s: %d of %s kept", s.Namespace, kept, plural.S(kept+dropped, "commit"))})
		case luker.ChatSync:
			if r.Doc.Integrity == nil {
				continue
			}
			if err := ops.Create(set, path, "Luker's slug of it", luker.SyncData(*r.Doc.Integrity, opt.Changes.Now.UnixMilli()), changeset.Like(opt.like(src, p))); err != nil {
				return err
			}
			r.Doc.sidecar(path, SidecarFresh)
		default:
			leave(s, ": only its extension knows what it holds", r)
		}
	}
	return nil
}

// CopySidecars drafts, beside a new chat at path, what Luker keeps beside a chat all of whose messages
// the new one begins with: as a checkpoint at the last of them has it. The document must have the
// new chat's slug.
func CopySidecars(set *changeset.Set, src *chat.Chat, sidecars []luker.Sidecar, path string, messages int, now time.Time, r *Result) error {
	p := &plan{source: src.Path, chatPath: chatPath{path: path, name: names.Name{File: userdir.ChatName(path)}}}
	opt := &Options{Changes: changeset.Options{Now: now}}
	return cutSidecars(opt, set, src, p, sidecars, messages-1, r)
}

// LeaveSidecars lists sidecars that do not go with a new chat, and why.
func LeaveSidecars(sidecars []luker.Sidecar, why string, r *Result) {
	for _, s := range sidecars {
		leave(s, why, r)
	}
}

// cutLog drafts the floor log of a new chat that keeps the first messages of its source, or a part
// of them.
func (p *plan) cutLog(set *changeset.Set, from, path string, messages int) (kept, dropped int, err error) {
	f, was, err := chat.OpenStamped(from)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	d, err := set.Create(path, "Luker's state of it", changeset.Like(was))
	if err != nil {
		return 0, 0, err
	}
	if p.part != nil {
		kept, dropped, err = p.part.cutLog(d, f)
	} else {
		kept, dropped, err = luker.Cut(d, f, messages)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", from, err)
	}
	if kept == 0 {
		set.Drop(d)
	}
	set.Rely(from, was)
	return kept, dropped, nil
}

// leave lists a sidecar that does not go with the new chat, and why.
func leave(s luker.Sidecar, why string, r *Result) {
	r.Doc.sidecar(s.Path, SidecarLeft)
	r.Note("%s: %s%s", s.Path, SidecarLeft, why)
}

// judgeGroup refuses a group file that cannot be edited, and warns about what concerns the
// group.
func judgeGroup(src *chat.Chat, p *plan, r *Result) error {
	if src.Kind != userdir.Group || len(src.Groups) == 0 {
		return nil
	}
	if !p.beside {
		r.Warn("%s: the new chat is not in the group's folder, so no group lists it", src.Label())
		return nil
	}
	g := src.Groups[0]
	if err := safefile.CanReplace(g.Path); err != nil {
		return withKind(ErrGroupFile, ops.PathError(err))
	}
	if g.HasOldLayout() {
		// The new chat has a header, as SillyTavern 1.16 and later write it. Up to
		// 1.14 a group chat has none, and a page of 1.13 that opens a chat without
		// an entry in past_metadata takes it for a fresh one.
		r.Warn("%s: this group has the layout of SillyTavern up to 1.14, and the new chat that of 1.16 and later: open it with 1.16 or later only", g.Path)
	}
	r.Doc.Group = &g.Path
	return nil
}
