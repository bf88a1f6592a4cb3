// Package cut makes checkpoints and branches: new chats that hold a chat up to one of its
// messages.
//
// Each source is a [job], which takes four steps:
//
//   - open: the file up to its header, its place, its groups;
//   - decide: the new chat's name and those of its lorebooks, and whether the new chat may be
//     made at all. What is decided follows from values alone, without the disk;
//   - read: one pass for what must be known of its messages before the new chat is written,
//     such as what extensions kept as of the last one. It comes before the name if that has the
//     number of the last message in it;
//   - draft: the new chat and what belongs to it, which is its sidecars, the clones of its
//     lorebooks, its name in the group's list and its link in the source.
//
// Names are decided in the order in which the sources were given, so that they do not depend on
// which source is done first. All other steps are taken for the sources in parallel. Last, the
// changeset package commits what was drafted for one source as one change set, whole or not at
// all. If other programs got ahead of it, the job starts again at open.
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
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// Run makes a checkpoint or branch of every source, each with messages 0 to At inclusive, and
// returns one result per source in their order. An error is in the result of its source and
// does not stop the others.
func Run(ctx context.Context, opt Options) []*Result {
	left := opt.Values.LeaveOut(keyMainChat, keyIntegrity)
	c := newCall(&opt)
	defer c.close()
	for _, source := range opt.Sources {
		c.jobs = append(c.jobs, newJob(&opt, source))
	}

	nameAll(ctx, c, c.jobs)
	named := slices.DeleteFunc(slices.Clone(c.jobs), func(j *job) bool { return j.isOver() })
	ops.Each(ctx, opt.Changes, named, func(j *job) (*Result, changeset.Unit) { return j.res, c.unit(j) })
	for _, j := range named {
		j.res.Err = about(j.source, j.res.Err)
		j.stream(ctx, opt.Changes.DryRun)
	}

	results := make([]*Result, len(c.jobs))
	for i, j := range c.jobs {
		results[i] = j.res
	}
	noteLeftOut(results, left)
	if opt.Link && opt.Kind == names.Checkpoint {
		noteReplaced(c.jobs)
	}
	noteBookless(c.jobs)
	for _, r := range results {
		if r.Err != nil { // what is said is about a chat that was not made
			r.Warnings = nil
			r.Notes = nil
			r.Facts = nil
		}
		r.Doc.Warnings = append(r.Doc.Warnings, r.Warnings...)
	}
	return results
}

// noteLeftOut notes, with the first chat that was made, which of the values that were given are
// left out.
func noteLeftOut(results []*Result, left []string) {
	if len(left) == 0 {
		return
	}
	made := slices.IndexFunc(results, func(r *Result) bool { return r.Err == nil })
	if made >= 0 {
		ops.WarnLeftOut(results[made], left)
	}
}

// call is what the jobs of one call share: the options, and what lies around the sources, each
// thing looked up once.
type call struct {
	opt     *Options
	jobs    []*job
	library *library.Library
	slugs   library.Once[string] // new slugs of sources, by real path
	roots   library.Once[string] // by path of the group file
	names   *namesGiven
}

func newCall(opt *Options) *call {
	return &call{opt: opt, library: new(library.Library), names: newNamesGiven()}
}

// close closes the sources that are still open.
func (c *call) close() {
	for _, j := range c.jobs {
		j.close()
	}
}

// unit returns the unit of change for one source.
func (c *call) unit(j *job) changeset.Unit {
	// at a path that was asked for, outside any user folder, a replaced file is not kept for undo
	elsewhere := c.opt.Output != "" && j.path != Stdout && userdir.RoleOf(j.path) == userdir.Outside
	u := changeset.Unit{Root: c.root(j), Unrecorded: elsewhere}
	if j.listing != "" {
		u.Shares = append(u.Shares, j.listing)
	}
	if c.opt.Link {
		u.Shares = append(u.Shares, j.source)
	}

	begun := false
	moved := false // the last message is not the one that an earlier try found
	u.Again = func(err error) bool { return !moved && c.mayRetry(j, err) }
	u.Draft = func(ctx context.Context, set *changeset.Set) error {
		defer c.opt.Meter.Done()
		if !begun {
			begun = true
			return c.work(ctx, set, j)
		}
		earlier := j.drafted.at
		if err := startAgain(ctx, set, c.opt, j); err != nil || j.isOver() {
			return err
		}
		moved = earlier >= 0 && earlier != j.drafted.at
		if moved { // the source changed by more than a link
			return fmt.Errorf("%s: %w", chat.Label(j.source), jsonl.ErrChanged)
		}
		return nil
	}
	return u
}

// work takes a job whose names are decided through all other steps, up to the drafts.
func (c *call) work(ctx context.Context, set *changeset.Set, j *job) error {
	defer j.rest()
	j.drafted.at = j.last.index
	if err := j.open(ctx, c); err != nil {
		return err
	}
	if err := decide(c.opt, j.src, &j.plan, lookAround(c, j), j.res); err != nil {
		return err
	}
	if err := j.read(ctx, c.opt, false); err != nil {
		return err
	}
	return draft(ctx, c, set, j)
}

// startAgain takes a job through all steps once more, since others got ahead of what was drafted.
// Whatever was found out before may no longer hold, so nothing of it is used.
func startAgain(ctx context.Context, set *changeset.Set, opt *Options, j *job) error {
	fresh := newCall(opt)
	j.reset(opt)
	nameAll(ctx, fresh, []*job{j})
	if j.isOver() {
		return j.res.Err
	}
	return fresh.work(ctx, set, j)
}

// mayRetry reports whether a chat is made again since other runs got ahead: they took its name, or
// linked a chat in its source.
func (c *call) mayRetry(j *job, err error) bool {
	if c.opt.Changes.DryRun || j.source == chat.Stdin {
		return false
	}
	taken, lost := errors.AsType[*safefile.ExistsError](err)
	switch {
	case !lost:
		return c.opt.Link && errors.Is(err, jsonl.ErrChanged) // by a run that linked another chat
	case taken.Path == j.path: // it is an error only if it was given, not if it was generated
		return c.opt.Output == "" && (j.name.Generated || c.opt.Style == names.Classic)
	}
	// a clone's name, or that of what is committed together with it
	return slices.ContainsFunc(c.jobs, func(other *job) bool { return other.makes(taken.Path) })
}

// root returns the folder that the change set edits.
func (c *call) root(j *job) string {
	opt := c.opt
	switch {
	case j.listing != "":
		return c.roots.Get(j.listing, func() string { return changeset.RootOf(j.listing) })
	case j.path == Stdout && j.source == chat.Stdin && opt.Data != "":
		return opt.Data
	case j.path == Stdout:
		return changeset.RootOf(j.source)
	case opt.Output != "" && j.source != chat.Stdin:
		return changeset.RootFor(j.path, j.source)
	}
	return changeset.RootOf(j.path)
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
	ErrNoSlug            = error(&ops.Kind{Text: "the chat has no header to hold an integrity", Hint: "no-slug"})
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

// NoPointError says why a name does not lead to a message of the chat.
type NoPointError struct{ Why string }

func (e *NoPointError) Error() string { return e.Why }

// ErrNoOwner means that the new chat has no owner to open with it: no card, and no group that
// lists it.
var ErrNoOwner = errors.New("neither a character nor a group could open with the new chat")
