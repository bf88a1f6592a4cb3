// Package book clones lorebooks, and points chats at the clones.
package book

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/folder/library"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
)

// Options says which lorebooks to clone, and how.
type Options struct {
	Sources  []string // lorebooks (.json), or chats (.jsonl) that name one
	Name     string   // of the clone; empty: numbered as SillyTavern does
	Internal lorebook.Internal
	Drop     []string // globs of entry comments; matching entries are left out
	Rebind   bool     // point each source, a chat, at its clone, in place

	BumpIntegrity bool   // give chats that are rebound a new slug
	Data          string // the user folder
	Changes       changeset.Options
}

// Clone is the JSON document about one clone.
type Clone struct {
	Schema  int       `json:"schema"`
	Source  string    `json:"source" is:"path"`
	Path    string    `json:"path" is:"path"`
	Name    string    `json:"name"`
	From    string    `json:"from"`
	Entries int       `json:"entries"`
	Dropped int       `json:"dropped"`
	Rebound []string  `json:"rebound" is:"path"`
	State   []Rebound `json:"state"`

	Changes []extension.Change `json:"-"` // State, for who has other words for it

	ops.Warned
	ops.Written
}

// Rebound is one thing that changed in a chat when it was pointed at a clone.
type Rebound struct {
	Chat      string `json:"chat" is:"path"`
	Extension string `json:"extension"`
	Change    string `json:"change"`
}

// Result is the result for one source.
type Result = ops.Result[Clone]

// job is one source on its way to a clone.
type job struct {
	source string
	folder string // of the lorebook and of the clone
	book   *lorebook.Book
	name   string     // of the clone
	chat   *rebinding // that is pointed at the clone; nil: none is
	res    *Result
	err    error // why there will be no clone
}

// target is the clone's path.
func (j *job) target() string { return filepath.Join(j.folder, j.name+lorebook.Extension) }

// Run clones the lorebook of every source, and with opt.Rebind points the source at it; both are
// written together or not at all. It returns one result per source, in their order, each with its
// own error.
func Run(ctx context.Context, opt Options) []*Result {
	lib := new(library.Library)
	sources := opt.Sources
	if opt.Rebind {
		sources = ops.Distinct(sources)
	}
	var jobs []*job
	for _, source := range sources {
		j := &job{source: source, res: &Result{Doc: Clone{Schema: 1, Source: source}}}
		if path, err := bookOf(ctx, lib, opt, source); err != nil {
			j.err = err
		} else {
			j.err = j.read(lib, opt, path)
		}
		if j.err == nil && opt.Rebind {
			j.err = j.rebind(ctx, lib, opt)
		}
		jobs = append(jobs, j)
	}

	results := ops.Each(ctx, opt.Changes, jobs, func(j *job) (*Result, changeset.Unit) { return j.res, j.unit(opt) })
	for _, j := range jobs {
		j.finish()
	}
	return results
}

// unit makes the clone; if another program takes its name meanwhile, under the next one.
func (j *job) unit(opt Options) changeset.Unit {
	u := changeset.Unit{Root: j.root()}
	if j.chat != nil {
		u.Shares = append(u.Shares, j.chat.path)
	}
	u.Again = func(err error) bool {
		taken, lost := errors.AsType[*safefile.ExistsError](err)
		return lost && j.err == nil && taken.Path == j.target()
	}
	tried, warnings := false, j.res.Warnings
	u.Draft = func(_ context.Context, s *changeset.Set) error {
		if tried {
			j.err = j.next(new(library.Library), opt) // which lists the folder as it is now
		}
		tried, j.res.Warnings = true, slices.Clip(warnings)
		return j.draft(opt, s)
	}
	return u
}

// read reads a source's lorebook and chooses the clone's name; it is called in the order of the
// sources.
func (j *job) read(lib *library.Library, opt Options, path string) (err error) {
	if j.book, err = lorebook.Open(path); err != nil {
		return ops.PathError(err)
	}
	j.folder = filepath.Dir(path)
	if err := ops.InFiles(lib, userdir.Dir{Root: filepath.Dir(j.folder)}, path); err != nil {
		return err
	}
	return j.next(lib, opt)
}

// next gives the clone the next free name.
func (j *job) next(lib *library.Library, opt Options) error {
	shelf, err := lib.Shelf(j.folder)
	if err != nil {
		return ops.PathError(err)
	}
	if opt.Name != "" {
		j.name, err = shelf.Given(opt.Name)
	} else {
		j.name, err = shelf.Duplicate(j.book.Name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", j.book.Path, err)
	}
	return nil
}

// root returns the folder whose files are edited: that of the chat, if it is rebound.
func (j *job) root() string {
	switch {
	case j.chat != nil:
		return changeset.RootOf(j.chat.path)
	case j.book != nil:
		return changeset.RootOf(j.book.Path)
	}
	return changeset.RootOf(j.source)
}

// draft drafts the clone and the edit of its chat.
func (j *job) draft(opt Options, s *changeset.Set) error {
	if j.err != nil {
		return j.err
	}
	made := j.book.Clone(lorebook.CloneOptions{Name: j.name, Internal: opt.Internal, Drop: opt.Drop})
	target := j.target()
	about := fmt.Sprintf("a clone of the lorebook %q: %s, %d left out", j.book.Name, plural.Of(made.Entries, "entry", "entries"), made.Dropped)
	if err := ops.Create(s, target, about, made.Data, changeset.Like(j.book.Stamp)); err != nil {
		return err
	}
	s.Rely(j.book.Path, j.book.Stamp)
	clone, err := lorebook.Parse(made.Data, target)
	if err != nil {
		return err
	}
	j.describe(opt, clone, made)
	if j.chat == nil {
		return nil
	}
	return j.chat.draft(opt, j, clone, s)
}

// describe fills in the document and collects warnings about the clone.
func (j *job) describe(opt Options, clone *lorebook.Book, made lorebook.Cloned) {
	d := &j.res.Doc
	d.Path = clone.Path
	d.Name = clone.Name
	d.From = j.book.Name
	d.Entries = made.Entries
	d.Dropped = made.Dropped

	if opt.Name != "" && clone.Name != opt.Name {
		j.res.Warn("%s: this name is taken, or no file can have it, so it is changed: %s → %s", j.book.Path, opt.Name, clone.Name)
	}

	q, err := clone.Queue()
	if err != nil {
		j.res.Warn("%s: the clone's queue: %v", j.book.Path, err)
		return
	}
	if n := q.Pending(); n > 0 {
		j.res.Warn("%s: the clone has the queue with %s, which would run in every chat that uses it", j.book.Path, plural.S(n, "pending operation"))
	}
}

// finish fills in the result once the change is committed.
func (j *job) finish() {
	r := j.res
	if r.Err != nil || j.chat == nil {
		return
	}
	r.Doc.Rebound = append(r.Doc.Rebound, j.chat.shown)
	r.Doc.Changes = j.chat.changes
	for _, c := range j.chat.changes {
		r.Doc.State = append(r.Doc.State, Rebound{j.chat.shown, c.Extension, c.Change})
	}
}

// NeitherError is the error of a file that by its name is neither a lorebook nor a chat.
func NeitherError(path string) error {
	return fmt.Errorf("%s: is neither a lorebook (.json) nor a chat (.jsonl)", path)
}

// bookOf returns the path of the lorebook that a source is or names.
func bookOf(ctx context.Context, lib *library.Library, opt Options, source string) (string, error) {
	switch strings.ToLower(filepath.Ext(source)) {
	case lorebook.Extension:
		return source, nil
	case names.Extension:
	default:
		return "", NeitherError(source)
	}

	from, err := chat.Open(ctx, source, chat.Options{Data: opt.Data, Groups: lib})
	if err != nil {
		return "", ops.PathError(err)
	}
	defer from.Close()
	if from.HeaderKind == chat.Damaged {
		return "", from.Errorf("%w, so its lorebook is not known; give the lorebook itself", ErrDamagedHeader)
	}
	name, ok := lorebook.NameIn(from.Metadata())
	switch named := all.Table().Books(from.Metadata()); {
	case ok: // its own, though extensions may name others
	case len(named) == 1:
		name = named[0]
	case len(named) > 1:
		return "", from.Errorf("the chat names several lorebooks, and none as its own: %q; give the lorebook itself", named)
	default:
		return "", from.Errorf("the chat names no lorebook (chat_metadata.world_info)")
	}

	if !from.HasDir {
		return "", from.Errorf("%w, so its lorebook %q cannot be found", ops.ErrNoUserFolder, name)
	}
	path, err := lorebook.Find(from.Dir.Worlds(), name)
	if err != nil {
		return "", from.Errorf("the lorebook %q that the chat names: %w", name, ops.PathError(err))
	}
	return path, nil
}

// ErrDamagedHeader means that a chat's header cannot be read.
var ErrDamagedHeader = error(&ops.Kind{Text: "the header is damaged", Hint: "repair"})
