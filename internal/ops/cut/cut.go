// Package cut makes checkpoints and branches: new chats that hold a chat up to one of its
// messages.
//
// A call takes three steps. First every source gets the name of its new chat, in the order in
// which the sources were given (plan). Then all are drafted in parallel, each on its own
// (draft): the chat and what belongs to it, which is its sidecars, the clone of its lorebook,
// its name in the group's list and its link in the source. Last, the changeset package commits
// what was drafted for one source as one change set, whole or not at all.
package cut

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
)

// Run makes a checkpoint or branch of every source, each with messages 0 to At inclusive, and
// returns one result per source in their order. An error is in the result of its source and
// does not stop the others.
func Run(ctx context.Context, opt Options) []*Result {
	left := opt.Values.LeaveOut(keyMainChat, keyIntegrity)
	results, c := make([]*Result, len(opt.Sources)), newCall(&opt)
	defer c.close()
	for i, source := range opt.Sources {
		p := newPlan(&opt, source)
		c.plans, results[i] = append(c.plans, p), p.res
	}
	planAll(ctx, c, c.plans)
	begun := slices.DeleteFunc(slices.Clone(c.plans), func(p *plan) bool { return p.res.Err != nil || p.res.Doc.Existed })
	ops.Each(ctx, opt.Changes, begun, func(p *plan) (*Result, changeset.Unit) { return p.res, c.unit(p) })
	for _, p := range begun {
		r := p.res
		r.Err = about(p.source, r.Err)
		if r.Err == nil && p.drafted.stream != nil && !opt.Changes.DryRun {
			if r.Err = p.drafted.stream(ctx); r.Err != nil && len(p.clones) > 0 {
				r.Err = fmt.Errorf("%w; the lorebook %s was made for it, and stays", r.Err, p.clones[0].path)
			}
		}
	}
	if at := slices.IndexFunc(results, func(r *Result) bool { return r.Err == nil }); len(left) > 0 && at >= 0 {
		results[at].Note("%s", ops.LeftOut(left))
	}
	if opt.Link && opt.Kind == names.Checkpoint {
		noteReplaced(c.plans)
	}
	noteBookless(c.plans)
	for _, r := range results {
		if r.Err != nil {
			r.Warnings, r.Notes = nil, nil // they are about a chat that was not made
		}
		r.Doc.Warnings = append(r.Doc.Warnings, r.Warnings...)
	}
	return results
}

// mayRetry reports whether a chat is made again since other runs got ahead: they took its name, or
// linked a chat in its source.
func (c *call) mayRetry(p *plan, err error) bool {
	taken, lost := errors.AsType[*safefile.ExistsError](err)
	switch {
	case c.opt.Changes.DryRun || p.source == chat.Stdin:
		return false
	case lost && taken.Path == p.path: // it is an error only if it was given, not if it was generated
		return c.opt.Output == "" && (p.name.Generated || c.opt.Style == names.Classic)
	case lost: // a clone's name, or that of what is committed together with it
		return slices.ContainsFunc(c.plans, func(other *plan) bool {
			return other.path == taken.Path || slices.ContainsFunc(other.clones, func(to *clone) bool { return to.path == taken.Path })
		})
	}
	return c.opt.Link && !p.drafted.moved && errors.Is(err, jsonl.ErrChanged) // by a run that linked another chat
}

// call is what the sources of one call share: the options, and what lies around them, each
// thing looked up once.
type call struct {
	opt     *Options
	plans   []*plan
	library *library.Library
	slugs   library.Once[string] // new slugs of sources, by real path
	roots   library.Once[string] // by path of the group file
	names   *namesGiven
	stdin   *chat.Chat // can be read only once, so it stays open
}

func newCall(opt *Options) *call {
	return &call{opt: opt, library: new(library.Library), names: &namesGiven{
		folders: map[string]*folder{}, inGroup: map[*group.File]map[string]bool{},
	}}
}

func (c *call) close() { c.stdin.Close() }

// open opens a source, and refuses one whose header is damaged. If it was opened before, it must be
// unchanged since then; the zero stamp means that it was not.
func (c *call) open(ctx context.Context, p *plan) (*chat.Chat, error) {
	if p.source == chat.Stdin && c.stdin != nil {
		return c.stdin, nil
	}
	demand := ops.Whole
	if c.opt.SkipDamaged {
		demand = ops.Anything
	}
	src, err := ops.Open(ctx, c.library, p.source, demand, chat.Options{Data: c.opt.Data, Stdin: c.opt.Stdin, Content: c.opt.Content})
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
	book, err := c.library.ReadBook(dir, name)
	return book, ops.PathError(err)
}

// unit returns the unit of change for one source.
func (c *call) unit(p *plan) changeset.Unit {
	// at a path that was asked for, outside any user folder, a replaced file is not kept for undo
	elsewhere := c.opt.Output != "" && p.path != Stdout && userdir.RoleOf(p.path) == userdir.Outside
	u := changeset.Unit{Root: c.root(p), Unrecorded: elsewhere}
	if p.listing != "" {
		u.Shares = append(u.Shares, p.listing)
	}
	if c.opt.Link {
		u.Shares = append(u.Shares, p.source)
	}
	tried := false
	u.Again = func(err error) bool { return c.mayRetry(p, err) }
	u.Draft = func(ctx context.Context, set *changeset.Set) error {
		defer c.opt.Meter.Done()
		c := c
		if tried {
			c = newCall(c.opt)
			p.begin(c.opt, p.drafted.at)
			if planAll(ctx, c, []*plan{p}); p.res.Err != nil || p.res.Doc.Existed {
				return p.res.Err
			}
		}
		tried = true
		return draft(ctx, c, set, p)
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
	case opt.Output != "" && p.source != chat.Stdin:
		return changeset.RootFor(p.path, p.source)
	}
	return changeset.RootOf(p.path)
}

// about puts the source in front of a cancellation error, and the path in front of any other.
func about(source string, err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", chat.Label(source), err)
	}
	return ops.PathError(err)
}

// Kinds of errors that a caller can act on, to be matched with errors.Is.
var (
	ErrMetadataElsewhere = error(&ops.Kind{Text: "the chat has no header, so its metadata may be in this group file, which cannot be read", Hint: "no-metadata"})
	ErrGivenTwice        = error(&ops.Kind{Text: "an earlier CHAT of this call has this name already", Hint: "naming"})
	ErrNoSnapshot        = error(&ops.Kind{Text: "there is no snapshot of it", Hint: "clone"})
	ErrRequirement       = error(&ops.Kind{Code: "refused", Text: "required"}) // something that was required does not hold
	ErrGroupFile         = error(&ops.Kind{Text: "the group file cannot be edited"})
	ErrLinkElsewhere     = error(&ops.Kind{Text: "a link needs the new chat beside its source", Hint: "no-link"})
	ErrLink              = error(&ops.Kind{Text: "the source cannot be edited", Hint: "untouched"})
	ErrNoSlug            = error(&ops.Kind{Text: "the chat has no header to hold a slug", Hint: "no-slug"})
)

// kindError is an error of a kind that its text does not name.
type kindError struct {
	error
	kind error
}

func (e *kindError) Unwrap() []error { return []error{e.error, e.kind} }

// withKind marks err as one of a kind.
func withKind(kind, err error) error { return &kindError{err, kind} }

// OwnMessagesError means that a chat made from a source was continued, so that replacing it
// would lose messages.
type OwnMessagesError struct {
	Path string
	Own  int    // its messages that the source lacks
	From string // the source's name
}

// Error returns a message with the number of messages that would be lost.
func (e *OwnMessagesError) Error() string {
	own := fmt.Sprintf("%d messages", e.Own)
	if e.Own == 1 {
		own = "a message"
	}
	return fmt.Sprintf("%s: has %s of its own, which %s does not have, so it is not replaced; choose another name", e.Path, own, e.From)
}

// ErrNoPoint means that a name does not lead to a message of the chat.
var ErrNoPoint = errors.New("the name leads to no message")

// ErrNoOwner means that the new chat has no owner to open with it: no card, and no group that
// lists it.
var ErrNoOwner = errors.New("neither a character nor a group could open with the new chat")
