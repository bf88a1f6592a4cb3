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

// plan is what is settled of a source before any is worked on.
type plan struct {
	number int // among the sources
	source string
	opened safefile.Stamp // the source as it was when it was first opened; zero: it was not
	last   last
	place

	before  int    // the last message as an earlier try found it; -1: there was none
	listing string // the group file that the new name goes to, or ""
	clone   *clone // of its lorebook, or nil
	made    made
}

// made is what drafting found out that is needed after it.
type made struct {
	bookless bool                            // a clone was asked for, and the chat names none
	at       int                             // the index of the last message; -1: it is not known
	moved    bool                            // the last message is another than before
	linkedIn string                          // the real path of the source that notes the new chat
	replaced string                          // the checkpoint that its message was linked to
	stream   func(ctx context.Context) error // writes the chat to standard output
}

// place is where a new chat goes.
type place struct {
	name   names.Name
	path   string // Stdout for standard output
	beside bool   // it is in the source's folder
}

// last is what is known of the last message beforehand.
type last struct {
	index  int  // -1: nothing
	whole  bool // the whole chat was read for it
	damage jsonl.Damages
}

// planAll settles the names of the new chats, in the order of the sources, so that
// they do not depend on which source is done first.
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

// expect refuses what cannot be a source, and counts the work.
func expect(c *call, source string) error {
	if source == chat.Stdin {
		return nil
	}
	info, err := os.Stat(source)
	if err != nil {
		return ops.PathError(err)
	}
	if !info.Mode().IsRegular() {
		f, err := chat.OpenRegular(source) // it knows what to say
		if err == nil {
			_ = f.Close()
			err = fmt.Errorf("%s: %w", source, chat.ErrNotRegular)
		}
		return err
	}
	c.opt.Meter.Expect(1, info.Size())
	return nil
}

// unrecorded reports whether a file that is replaced is not kept: one outside any
// user folder whose path was asked for.
func (p *plan) unrecorded(opt *Options) bool {
	if opt.Output == "" || p.path == Stdout {
		return false
	}
	_, inside := userdir.Enclosing(p.path)
	return !inside
}

// opens returns the chat that its group is to open with, "" for the one it has.
func (p *plan) opens(opt *Options) string {
	if opt.Open {
		return p.name.File
	}
	return ""
}

// sameFolder reports whether two paths lead to one folder. That one does not
// exist is no error: what is made there will say so.
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
