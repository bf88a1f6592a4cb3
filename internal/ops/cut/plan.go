package cut

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// plan is what is settled about a source before any source is worked on.
type plan struct {
	number int // among the sources
	source string
	opened safefile.Stamp // the source when it was first opened; zero: it was not
	last   last
	place

	before  int    // the last message that an earlier try found; -1: there was none
	listing string // the group file to add the new name to, or ""
	clone   *clone // of its lorebook, or nil
	made    made
}

// made is what drafting found out and is needed later.
type made struct {
	bookless bool                            // a clone was asked for, but the chat names no lorebook
	at       int                             // the index of the last message; -1: not known
	moved    bool                            // the last message is not the one found before
	linkedIn string                          // the real path of the source that links to the new chat
	replaced string                          // the checkpoint that the message was linked to before
	stream   func(ctx context.Context) error // writes the chat to standard output
}

// place is where a new chat goes.
type place struct {
	name   names.Name
	path   string // Stdout for standard output
	beside bool   // it is in the source's folder
}

// last is what is known beforehand of the last message.
type last struct {
	index  int  // -1: not known
	whole  bool // the whole chat was read to find it
	damage jsonl.Damages
}

// planAll settles the names of the new chats in the order of the sources, so that they do not
// depend on which source is done first.
func planAll(ctx context.Context, c *call, plans []*plan, results []*Result) {
	for _, p := range plans {
		switch {
		case c.opt.AtName != "":
			p.last, results[p.number].Err = findNamed(ctx, c.opt, p.source)
		case !c.opt.AtOne.All():
			p.last, results[p.number].Err = findOne(ctx, c, p)
		}
	}
	if c.opt.nameNeedsIndex() {
		progress.Each(ctx, len(plans), func(k int) {
			if r := results[plans[k].number]; r.Err == nil {
				r.Err = findIndex(ctx, c, plans[k])
			}
		})
	}
	for _, p := range plans {
		r := results[p.number]
		if r.Err == nil {
			r.Err = settle(ctx, c, p, r)
		}
	}
}

// settle settles one source.
func settle(ctx context.Context, c *call, p *plan, r *Result) error {
	if err := expect(c, p.source); err != nil {
		return err
	}
	groups := groupsOf(c, p.source)
	var err error
	if c.opt.Output != "" {
		p.place, err = placeOutput(c, p.source, r)
	} else {
		p.place, err = placeBeside(ctx, c, p, groups, r)
	}
	if err != nil || r.Doc.Existed {
		return err
	}
	r.Doc.Path = p.path
	if p.name.File != "" && p.path != Stdout {
		r.Doc.Name = &p.name.File
	}
	if p.beside && !c.opt.NoGroup && len(groups) > 0 {
		p.listing = groups[0].Path
	}
	if c.opt.clones() {
		p.clone, err = nameClone(ctx, c, p)
	}
	return err
}

// expect refuses what cannot be a source, and adds its size to the progress.
func expect(c *call, source string) error {
	if source == chat.Stdin || c.opt.Content != nil {
		return nil
	}
	info, err := os.Stat(source)
	if err != nil {
		return ops.PathError(err)
	}
	if !info.Mode().IsRegular() {
		f, err := chat.OpenRegular(source) // it has the right error
		if err == nil {
			_ = f.Close()
			err = fmt.Errorf("%s: %w", source, chat.ErrNotRegular)
		}
		return err
	}
	c.opt.Meter.Expect(1, info.Size())
	return nil
}

// unrecorded reports whether a replaced file is not kept for undo: one outside any user folder,
// at a path that was asked for.
func (p *plan) unrecorded(opt *Options) bool {
	if opt.Output == "" || p.path == Stdout {
		return false
	}
	_, inside := userdir.Enclosing(p.path)
	return !inside
}

// opens returns the chat that the group should open with, "" for no change.
func (p *plan) opens(opt *Options) string {
	if opt.Open {
		return p.name.File
	}
	return ""
}

// sameFolder reports whether two paths lead to one folder. A missing folder is not an error
// here: creating a file in it will report that.
func sameFolder(a, b string) (bool, error) {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	if err := errors.Join(aerr, berr); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	return os.SameFile(ai, bi), nil
}
