package cut

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/isolate"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
)

// draft drafts the new chat of one source and all that belongs to it, in a set that the caller
// commits.
func draft(ctx context.Context, c *call, set *changeset.Set, p *plan) error {
	r, d := p.res, &p.drafted
	*d = drafted{at: p.last.index}
	src, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer c.release(src)
	if err := judgeHead(c, src, r); err != nil {
		return err
	}
	sidecars, err := sidecarsOf(c, src, p, r)
	if err != nil {
		return err
	}
	if err := judgeGroup(src, p, r); err != nil {
		return err
	}
	if err := mayLink(c.opt, src, p, len(sidecars) > 0); err != nil {
		return err
	}
	state, last, err := stateAtLast(ctx, c.opt, src, p.last)
	if err != nil {
		return err
	}
	if p.part != nil {
		if err := p.part.follow(ctx, src, r); err != nil {
			return err
		}
	}
	header, err := newHeader(c, src, p, state, last.index, r)
	if err != nil {
		return err
	}
	d.bookless = c.opt.clones() && len(p.clones) == 0
	for _, to := range p.clones {
		if err := ops.Create(set, to.path, fmt.Sprintf("the lorebook %q", to.name), to.data, changeset.Like(to.from.Stamp)); err != nil {
			return err
		}
	}
	if p.path == Stdout {
		d.stream, err = prepareStream(ctx, c, p, src, header, last, r)
		return err
	}
	out, err := target(ctx, c, set, src, p)
	if err != nil {
		return err
	}
	var end jsonl.Place
	if p.part != nil {
		end.Index, err = p.part.to-1, p.part.write(ctx, out, src, header, r)
	} else {
		end, err = writeChat(ctx, c.opt, out, src, header, last, r)
	}
	if err != nil {
		return err
	}
	d.at = end.Index
	if d.moved = p.previousLast >= 0 && p.previousLast != end.Index; d.moved {
		return src.Errorf("%w", jsonl.ErrChanged) // and by more than a link
	}
	if err := cutSidecars(c.opt, set, src, p, sidecars, end.Index, r); err != nil {
		return err
	}
	switch {
	case p.listing != "":
		err = group.List(set, p.listing, "its name in the group's list", c.opt.Open, p.name.File)
	case c.opt.Open && (!src.HasDir || src.Kind != userdir.Solo):
		err = src.Errorf("%w", ErrNoOwner)
	case c.opt.Open:
		_, err = ops.OpenInCard(set, src.Dir, src.Owner, p.name.File)
	}
	if err == nil && c.opt.Link {
		d.linkedIn = userdir.RealPath(p.source)
		d.replaced, err = link(ctx, c, set, src, p, sidecars, end, d.linkedIn)
		r.Doc.Linked = err == nil
	}
	return err
}

// judgeHead refuses or reports problems in the lines up to the header, and in who lists the chat.
func judgeHead(c *call, src *chat.Chat, r *Result) error {
	r.Doc.skip(src.Damage)
	switch {
	case src.HeaderKind == chat.Damaged && src.Header == nil:
		r.Warn("%s: the first line is damaged: if it was the header, the chat's metadata (lorebook, author's note, parent, variables, what extensions keep) is lost; it counts as {}", src.Label())
	case src.HeaderKind == chat.Damaged:
		r.Warn("%s: chat_metadata is not an object: the chat's metadata is lost; it counts as {} (the header's other keys are kept)", src.Label())
	}
	switch {
	case src.Kind == userdir.Group && len(src.Groups) == 0:
		unless := ""
		if err := unreadGroup(c, src); err != nil {
			if src.HeaderKind == chat.None && !c.opt.SkipDamaged {
				return src.Errorf("%w: %w", ErrMetadataElsewhere, err)
			}
			unless = fmt.Sprintf("; unless it is this one, which cannot be read: %v", err)
		}
		r.Warn("%s: no group lists this chat: SillyTavern shows neither it nor the new one%s", src.Label(), unless)
	case src.Kind == userdir.Group && len(src.Groups) > 1:
		r.Warn("%s: %d groups list this chat; the new one goes to %s", src.Label(), len(src.Groups), src.Groups[0].Path)
	}
	if src.HeaderKind == chat.None && src.Kind != userdir.Group && src.Body < src.Source.Size {
		r.Warn("%s: the chat has no header: SillyTavern takes its first line for one, so its message numbers are one lower", src.Label())
	}
	return nil
}

// unreadGroup returns the error of a group file that could not be read and may be the one that
// lists the chat, nil if there is none.
func unreadGroup(c *call, src *chat.Chat) error {
	if !src.HasDir {
		return nil
	}
	set, err := c.library.Groups(src.Dir)
	if err != nil || len(set.Bad) == 0 {
		return nil // opening the chat reported it
	}
	return ops.PathError(set.Bad[0])
}

// Keys of the metadata that have options of their own.
const (
	keyMainChat  = "main_chat"
	keyIntegrity = "integrity"
)

// newHeader returns the new chat's first line, and makes the contents of the clones of its
// lorebooks.
func newHeader(c *call, src *chat.Chat, p *plan, state *isolate.Facts, at int, r *Result) (line []byte, err error) {
	h := src.OutputHeader()
	if err = editMetadata(c, src, p, h, state, at, r); err != nil {
		return nil, src.Errorf("%w", err)
	}
	md := h.Metadata()
	if parent := ops.Or(c.opt.MainChat, src.Name); parent != "" {
		md.Set(keyMainChat, rawjson.Quote(parent))
	} else {
		md.Unset(keyMainChat)
		keepRecap(src, p.name.File, md, r)
	}
	switch c.opt.Integrity {
	case IntegrityKeep:
	case IntegrityNone:
		md.Unset(keyIntegrity)
	case IntegrityNew:
		md.Set(keyIntegrity, rawjson.Quote(c.opt.Changes.NewUUID()))
	default:
		md.Set(keyIntegrity, rawjson.Quote(c.opt.Integrity))
	}
	r.Doc.MainChat = rawjson.TextOrNil(md.Value(keyMainChat))
	r.Doc.Integrity = rawjson.TextOrNil(md.Value(keyIntegrity))
	h.Complete()
	line = h.Bytes()
	if d := jsonl.Check(line); d != nil {
		return nil, src.Errorf("the new header would be damaged: %s", d.Reason) // nested too deep by the values put in
	}
	return line, nil
}

// editMetadata makes the requested changes in this order: whole documents, the state as of the
// last message, single keys, the lorebooks.
func editMetadata(c *call, src *chat.Chat, p *plan, h *meta.Header, state *isolate.Facts, at int, r *Result) error {
	if err := h.Change(c.opt.Values.Documents); err != nil {
		return err
	}
	if c.opt.Isolate {
		r.Doc.changed(state.Apply(h.Metadata(), p.name.File))
	}
	if err := judge(c, src, h.Metadata(), state, at); err != nil {
		return err
	}
	edits := patch.Changes{Edits: c.opt.Values.Edits}
	if err := h.Change(edits.Apply); err != nil {
		return err
	}
	if !c.opt.clones() {
		shareBooks(c, src, h.Metadata(), r)
		return nil
	}
	return makeClones(c.opt, src, p, h.Metadata(), state, at, r)
}

// about says what the new chat is.
func (p *plan) about(opt *Options) string {
	if p.part != nil {
		return fmt.Sprintf("messages %d to %d", p.part.from, p.part.to-1)
	}
	return "the " + opt.Kind.String()
}

// like returns the file whose mode the new one takes: the source, also where its content comes from
// a private file, but for standard input and what is gone.
func (o *Options) like(src *chat.Chat, p *plan) safefile.Stamp {
	switch {
	case p.source == chat.Stdin:
		return safefile.Stamp{}
	case o.Content == nil:
		return src.Stamp
	}
	was, _ := safefile.StampPath(p.source)
	return was
}

// target drafts the file of the new chat: a new file, or one that may be replaced.
func target(ctx context.Context, c *call, set *changeset.Set, src *chat.Chat, p *plan) (*changeset.Draft, error) {
	like := changeset.Like(c.opt.like(src, p))
	info, err := os.Lstat(p.path)
	switch {
	case err == nil && !c.opt.Force:
		return nil, &safefile.ExistsError{Path: p.path}
	case errors.Is(err, fs.ErrNotExist):
		return set.Create(p.path, p.about(c.opt), like)
	case err != nil:
		return nil, ops.PathError(err)
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a folder; choose another name", p.path)
	}
	if err := safefile.CanReplace(p.path); err != nil {
		return nil, ops.PathError(err)
	}
	was, err := safefile.StampPath(p.path)
	if err != nil {
		return nil, ops.PathError(err)
	}
	if c.opt.Output == "" {
		if err := mayReplace(ctx, c, src, p.path); err != nil {
			return nil, err
		}
	}
	return set.Replace(p.path, was, "the "+c.opt.Kind.String()+", made again")
}

// mayReplace refuses to replace a chat that was not made from this source, or that was
// continued.
func mayReplace(ctx context.Context, c *call, src *chat.Chat, path string) error {
	old, err := c.openMade(ctx, path, src.Name)
	if err != nil {
		return err
	}
	defer old.Close()
	own, err := chat.OwnMessages(ctx, src, old)
	if err == nil && own > 0 {
		err = &OwnMessagesError{Path: path, Own: own, From: src.Name}
	}
	return err
}

// openMade opens a chat that must be a checkpoint or branch of source.
func (c *call) openMade(ctx context.Context, path, source string) (*chat.Chat, error) {
	made, err := chat.Open(ctx, path, chat.Options{Data: c.opt.Data, Groups: c.library})
	if err != nil {
		return nil, ops.PathError(err)
	}
	parent := ""
	if made.Header != nil {
		parent, _ = rawjson.Unquote(made.Header.Metadata().Value("main_chat"))
	}
	if parent == "" || parent != source {
		made.Close()
		return nil, fmt.Errorf("%[1]s: is not a checkpoint or branch of %[2]s (its main_chat is not %[2]s); choose another name", path, source)
	}
	return made, nil
}
