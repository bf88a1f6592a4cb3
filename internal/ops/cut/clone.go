package cut

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"stchat/internal/chat"
	"stchat/internal/isolate"
	"stchat/internal/lorebook"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// clone is the lorebook that a new chat gets.
type clone struct {
	from *lorebook.Book
	name string
	path string
}

// nameClone chooses the clone's name; it returns nil if the chat names no lorebook. Problems
// with the chat itself are left for draft to report.
func nameClone(ctx context.Context, c *call, p *plan) (*clone, error) {
	src, err := c.open(ctx, p)
	if err != nil {
		return nil, err
	}
	defer c.release(src)
	// a copy, since draft edits the header again if the chat stays open
	h := meta.ParseLenient(src.OutputHeader().Bytes())
	if err := h.Change(c.opt.Values.Apply); err != nil {
		return nil, src.Errorf("%w", err)
	}
	name, ok := lorebook.NameIn(h.Metadata())
	if !ok {
		return nil, nil
	}
	book, err := bookOf(c, src, name)
	if err != nil {
		return nil, err
	}
	shelf, err := c.library.Shelf(src.Dir.Worlds())
	if err != nil {
		return nil, ops.PathError(err)
	}
	var free string
	if label := cmp.Or(p.name.Label, src.Name); label != "" {
		free, err = shelf.ForChat(book.Name, label)
	} else { // from standard input to standard output
		free, err = shelf.Duplicate(book.Name)
	}
	if err != nil {
		return nil, src.Errorf("%w", err)
	}
	return &clone{from: book, name: free, path: filepath.Join(src.Dir.Worlds(), free+lorebook.Extension)}, nil
}

// bookOf reads a lorebook that must exist.
func bookOf(c *call, src *chat.Chat, name string) (*lorebook.Book, error) {
	if !src.HasDir {
		return nil, src.Errorf("%w, so its lorebook %q cannot be found", ErrNoUserFolder, name)
	}
	book, err := c.book(src.Dir, name)
	if errors.Is(err, lorebook.ErrMissing) {
		return nil, src.Errorf("%w", &MissingBookError{name})
	}
	if err != nil {
		return nil, src.Errorf("the lorebook that the chat names: %w", err)
	}
	return book, nil
}

// makeClone makes the clone's content and points the metadata at the clone.
func makeClone(opt *Options, src *chat.Chat, to *clone, md *rawjson.Object, state *isolate.Facts, at int, r *Result) ([]byte, error) {
	if to == nil {
		return nil, nil
	}
	var made lorebook.Cloned
	var err error
	snapshot := opt.Lorebook == LorebookSnapshot
	if snapshot {
		made, err = makeSnapshot(opt, src, to, state, at, r)
	} else {
		made, err = to.from.Clone(lorebook.CloneOptions{Name: to.name, Internal: opt.Internal, Drop: opt.Drop})
	}
	if err != nil {
		return nil, fmt.Errorf("the lorebook %q: %w", to.from.Name, err)
	}
	book, err := lorebook.Parse(made.Data, to.path)
	if err != nil {
		return nil, err
	}
	r.Doc.changed(isolate.Follow(md, isolate.Rebinding{From: to.from, Clone: book, Snapshot: snapshot}))
	r.Doc.Lorebook = &Lorebook{Name: to.name, From: to.from.Name, Path: &to.path, Cloned: true, Dropped: made.Dropped}
	return made.Data, nil
}

// makeSnapshot makes the clone's content as of the nearest scene break.
func makeSnapshot(opt *Options, src *chat.Chat, to *clone, state *isolate.Facts, at int, r *Result) (lorebook.Cloned, error) {
	noted, from, ok, err := state.Snapshot(src.Source)
	if err != nil {
		return lorebook.Cloned{}, err
	}
	if !ok {
		return lorebook.Cloned{}, fmt.Errorf("%w: no visible scene break at or before message %d has a scene recap with allEntries", ErrNoSnapshot, at)
	}
	made, err := to.from.Snapshot(noted, lorebook.SnapshotOptions{Name: to.name, Internal: opt.Internal, Drop: opt.Drop})
	if err == nil {
		r.Doc.changed([]isolate.Change{{Extension: "auto_recap", Change: fmt.Sprintf("lorebook as of the scene break at message %d", from)}})
	}
	return made, err
}

// shareBook keeps the name of the source's lorebook, as SillyTavern does, and warns of the
// consequences.
func shareBook(c *call, src *chat.Chat, md *rawjson.Object, r *Result) {
	name, ok := lorebook.NameIn(md)
	if !ok {
		return
	}
	r.Doc.Lorebook = &Lorebook{Name: name, From: name}
	if !src.HasDir {
		return
	}
	book, err := c.book(src.Dir, name)
	switch {
	case errors.Is(err, lorebook.ErrMissing):
		r.Warn("%s: the lorebook %q that the chat names does not exist", src.Label(), name)
	case err != nil:
		r.Warn("%s: the lorebook that the chat names: %v", src.Label(), err)
	default:
		r.Doc.Lorebook.Path = &book.Path
		if n := book.InternalCount(); n > 0 {
			r.Warn("%s: the lorebook %q holds extension state (%s), and the new chat writes into the same book; a clone would be its own",
				src.Label(), name, plural.Of(n, "entry", "entries"))
		}
	}
}

// tellBookless notes once how many chats had no lorebook to clone.
func tellBookless(plans []*plan, results []*Result) {
	first, n := -1, 0
	for i, p := range plans {
		if p.made.bookless {
			n++
			if first < 0 {
				first = i
			}
		}
	}
	if n > 0 {
		results[first].Note("%s no lorebook, so there is none to clone", plural.Of(n, "chat names", "chats name"))
	}
}
