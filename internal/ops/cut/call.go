package cut

import (
	"context"
	"errors"
	"fmt"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/group"
	"stchat/internal/jsonl"
	"stchat/internal/library"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// call is what the sources of one call share: the options, and what lies around them, each
// thing looked up once.
type call struct {
	opt     *Options
	library *library.Library
	books   library.Once[bookRead] // by path
	slugs   library.Once[string]   // new slugs of sources, by real path
	roots   library.Once[string]   // by path of the group file
	names   *namesGiven
	stdin   *chat.Chat // can be read only once, so it stays open
}

type bookRead struct {
	book *lorebook.Book
	err  error
}

func newCall(opt *Options) *call {
	return &call{opt: opt, library: new(library.Library), names: &namesGiven{
		folders: map[string]*folder{}, inGroup: map[*group.File]map[string]bool{},
	}}
}

func (c *call) close() { c.stdin.Close() }

// open opens a source. If it was opened before, it must be unchanged since then; the zero stamp
// means that it was not.
func (c *call) open(ctx context.Context, p *plan) (*chat.Chat, error) {
	if p.source == chat.Stdin && c.stdin != nil {
		return c.stdin, nil
	}
	src, err := ops.Open(ctx, c.library, p.source, ops.Anything, chat.Options{Data: c.opt.Data, Stdin: c.opt.Stdin, Content: c.opt.Content})
	if err != nil {
		return nil, err
	}
	if p.opened != (safefile.Stamp{}) && !src.Stamp.Same(p.opened) {
		src.Close()
		return nil, src.Errorf("%w", jsonl.ErrChanged)
	}
	p.opened = src.Stamp
	if p.source == chat.Stdin {
		c.stdin = src.Chat
	}
	return src.Chat, nil
}

// release closes a source, unless it is standard input.
func (c *call) release(src *chat.Chat) {
	if src != c.stdin {
		src.Close()
	}
}

// book reads the lorebook called name in dir.
func (c *call) book(dir userdir.Dir, name string) (*lorebook.Book, error) {
	path, err := c.library.Book(dir, name)
	if err != nil {
		return nil, ops.PathError(err)
	}
	r := c.books.Get(path, func() bookRead {
		book, err := lorebook.Open(path)
		return bookRead{book, ops.PathError(err)}
	})
	return r.book, r.err
}

// unit returns the unit of change for one source.
func (c *call) unit(p *plan, r *Result) changeset.Unit {
	u := changeset.Unit{Root: c.root(p), Unrecorded: p.unrecorded(c.opt)}
	if p.listing != "" {
		u.Shares = append(u.Shares, p.listing)
	}
	if c.opt.Link {
		u.Shares = append(u.Shares, p.source)
	}
	u.Draft = func(ctx context.Context, set *changeset.Set) (err error) {
		defer c.opt.Meter.Done()
		p.made, err = draft(ctx, c, set, p, r)
		return err
	}
	return u
}

// root returns the folder that the change set edits.
func (c *call) root(p *plan) string {
	opt := c.opt
	switch {
	case p.listing != "":
		return c.roots.Get(p.listing, func() string { return changeset.RootOf(p.listing) })
	case p.path == Stdout && p.source == chat.Stdin && opt.Data != "":
		return opt.Data
	case p.path == Stdout:
		return changeset.RootOf(p.source)
	}
	return changeset.RootOf(p.path)
}

// label returns a source's path as messages show it.
func label(source string) string {
	if source == chat.Stdin {
		return "standard input"
	}
	return source
}

// about puts the source in front of a cancellation error, and the path in front of any other.
func about(source string, err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", label(source), err)
	}
	return ops.PathError(err)
}
