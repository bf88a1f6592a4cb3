package cut

import (
	"context"
	"fmt"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/group"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// draft drafts the new chat of one source and all that belongs to it, in a set that the caller
// commits.
func draft(ctx context.Context, c *call, set *changeset.Set, p *plan, r *Result) (made made, err error) {
	made.at = p.last.index
	src, err := c.open(ctx, p)
	if err != nil {
		return made, err
	}
	defer c.release(src)
	if err := judgeHead(c, src, r); err != nil {
		return made, err
	}
	sidecars, err := sidecarsOf(c, src, p, r)
	if err != nil {
		return made, err
	}
	if err := judgeGroup(c.opt, src, p, r); err != nil {
		return made, err
	}
	if err := mayLink(c.opt, src, p, len(sidecars) > 0); err != nil {
		return made, err
	}
	state, last, err := stateAtLast(ctx, c.opt, src, p.last)
	if err != nil {
		return made, err
	}
	header, book, err := newHeader(c, src, p, state, last.index, r)
	if err != nil {
		return made, err
	}
	if made.bookless = c.opt.clones() && book == nil; book != nil {
		if err := create(set, p.clone.path, book, p.clone.from.Stamp, fmt.Sprintf("the lorebook %q", p.clone.name)); err != nil {
			return made, err
		}
	}
	if p.path == Stdout {
		made.stream, err = prepareStream(ctx, c, p, src, header, last, r)
		return made, err
	}
	out, err := target(ctx, c, set, src, p)
	if err != nil {
		return made, err
	}
	end, err := writeChat(ctx, c.opt, out, src, header, last, r)
	if err != nil {
		return made, err
	}
	made.at = end.Index
	if made.moved = p.before >= 0 && p.before != end.Index; made.moved {
		return made, src.Errorf("%w", jsonl.ErrChanged) // and by more than a link
	}
	if err := cutSidecars(c.opt, set, src, p, sidecars, end.Index, r); err != nil {
		return made, err
	}
	if p.listing != "" {
		if err := set.Edit(p.listing, zeroStamp, &group.Edit{Path: p.listing, List: []string{p.name.File}, Open: p.opens(c.opt)}, "its name in the group's list"); err != nil {
			return made, err
		}
	}
	if c.opt.Open && p.listing == "" {
		if err := openSolo(set, src, p); err != nil {
			return made, err
		}
	}
	if c.opt.Link {
		made.linkedIn = userdir.RealPath(p.source)
		made.replaced, err = link(ctx, c, set, src, p, sidecars, end, made.linkedIn)
		r.Doc.Linked = err == nil
	}
	return made, err
}

// openSolo makes its character open with the new chat.
func openSolo(set *changeset.Set, src *chat.Chat, p *plan) error {
	if !src.HasDir || src.Kind != userdir.Solo {
		return src.Errorf("%w", ErrNoOwner)
	}
	known, err := ops.CardOf(src.Dir, src.Owner)
	if err != nil {
		return ops.PathError(err)
	}
	return ops.PathError(ops.OpenInCard(set, known, p.name.File))
}
