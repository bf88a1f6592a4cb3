package cut

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
)

// draft drafts a new chat and all that belongs to it, in a set that the caller commits.
func draft(ctx context.Context, c *call, set *changeset.Set, j *job) error {
	if j.part != nil {
		if err := j.part.follow(ctx, j.src, j.res); err != nil {
			return err
		}
	}

	header, err := newHeader(ctx, c, j)
	if err != nil {
		return err
	}
	j.drafted.bookless = c.opt.clones() && len(j.clones) == 0
	if err := draftClones(set, j.clones); err != nil {
		return err
	}
	if j.path == Stdout {
		j.drafted.stream, err = prepareStream(ctx, c.opt, j, header)
		return err
	}

	end, err := draftChat(ctx, c, set, j, header)
	if err != nil {
		return err
	}
	j.drafted.at = end.Index
	if err := cutSidecars(c.opt, set, j, end.Index); err != nil {
		return err
	}
	if err := draftListing(c.opt, set, j); err != nil {
		return err
	}
	if !c.opt.Link {
		return nil
	}
	j.drafted.linkedIn = userdir.RealPath(j.source)
	j.drafted.replaced, err = link(ctx, c, set, j, end)
	j.res.Doc.Linked = err == nil
	return err
}

// draftChat drafts the file of the new chat, and returns where its last message is in the source.
func draftChat(ctx context.Context, c *call, set *changeset.Set, j *job, header []byte) (jsonl.Place, error) {
	out, err := target(ctx, c, set, j)
	if err != nil {
		return jsonl.Place{}, err
	}
	if j.part == nil {
		return writeChat(ctx, c.opt, out, j, header)
	}
	err = j.part.write(ctx, out, j.src, header, j.res)
	return jsonl.Place{Index: j.part.to - 1}, err
}

// draftListing drafts the new chat's name in the list of its group, and makes its owner open with
// it if that is asked for.
func draftListing(opt *Options, set *changeset.Set, j *job) error {
	if j.listing != "" {
		return group.List(set, j.listing, "its name in the group's list", opt.Open, j.name.File)
	}
	if !opt.Open {
		return nil
	}
	if !j.src.HasDir || j.src.Kind != userdir.Solo {
		return j.src.Errorf("%w", ErrNoOwner)
	}
	_, err := ops.OpenInCard(set, j.src.Dir, j.src.Owner, j.name.File)
	return err
}

// about says what the new chat is.
func (j *job) about(opt *Options) string {
	if j.part != nil {
		return fmt.Sprintf("messages %d to %d", j.part.from, j.part.to-1)
	}
	return "the " + opt.Kind.String()
}

// like returns the file whose mode the new one takes: the source, also where its content comes from
// a private file, but for standard input and what is gone.
func (j *job) like(opt *Options) safefile.Stamp {
	switch {
	case j.source == chat.Stdin:
		return safefile.Stamp{}
	case opt.Content == nil:
		return j.src.Stamp
	}
	was, _ := safefile.StampPath(j.source)
	return was
}

// target drafts the file of the new chat: a new file, or one that may be replaced.
func target(ctx context.Context, c *call, set *changeset.Set, j *job) (*changeset.Draft, error) {
	like := changeset.Like(j.like(c.opt))
	info, err := os.Lstat(j.path)
	switch {
	case err == nil && !c.opt.Force:
		return nil, &safefile.ExistsError{Path: j.path}
	case errors.Is(err, fs.ErrNotExist):
		return set.Create(j.path, j.about(c.opt), like)
	case err != nil:
		return nil, ops.PathError(err)
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a folder; choose another name", j.path)
	}
	if err := safefile.CanReplace(j.path); err != nil {
		return nil, ops.PathError(err)
	}
	was, err := safefile.StampPath(j.path)
	if err != nil {
		return nil, ops.PathError(err)
	}
	if c.opt.Output == "" {
		if err := mayReplace(ctx, c, j.src, j.path); err != nil {
			return nil, err
		}
	}
	return set.Replace(j.path, was, "the "+c.opt.Kind.String()+", made again")
}

// mayReplace refuses to replace a chat that was not made from this source, or that was
// continued.
func mayReplace(ctx context.Context, c *call, src *chat.Chat, path string) error {
	old, err := openMade(ctx, c, path, src.Name)
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
