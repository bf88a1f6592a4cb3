package cut

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/isolate"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
)

// clone is a lorebook that a new chat gets.
type clone struct {
	from *lorebook.Book
	name string
	path string
	data []byte // its content, once that is drafted
}

// nameClones chooses the names of the clones of all lorebooks that the chat names. Problems
// with the chat itself are left for draft to report.
func nameClones(ctx context.Context, c *call, p *plan, r *Result) (clones []*clone, err error) {
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
	own, _ := lorebook.NameIn(h.Metadata())
	for _, name := range clonedBooks(h.Metadata()) {
		book, err := bookOf(c, src, name)
		if errors.Is(err, lorebook.ErrMissing) && name != own {
			r.Warn("%v, so it is not cloned, and the new chat names it too", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(clones, func(k *clone) bool { return k.from == book }) {
			continue
		}
		free, err := freeName(c, src, p, book)
		if err != nil {
			return nil, err
		}
		clones = append(clones, &clone{from: book, name: free, path: filepath.Join(src.Dir.Worlds(), free+lorebook.Extension)})
	}
	return clones, nil
}

// clonedBooks returns the names of the lorebooks that a chat's metadata names. Auto-Recap's
// is the chat's own, whatever it is called, if the chat has one.
func clonedBooks(metadata *rawjson.Object) []string {
	own, ok := lorebook.NameIn(metadata)
	recap := autorecap.BookName(metadata)
	return slices.DeleteFunc(all.Table().Books(metadata), func(name string) bool { return ok && name == recap && name != own })
}

// freeName returns the name of a book's clone.
func freeName(c *call, src *chat.Chat, p *plan, book *lorebook.Book) (string, error) {
	shelf, err := c.library.Shelf(src.Dir.Worlds())
	if err != nil {
		return "", ops.PathError(err)
	}
	var free string
	if label := cmp.Or(p.name.Label, src.Name); label != "" {
		free, err = shelf.ForChat(book.Name, label)
	} else { // from standard input to standard output
		free, err = shelf.Duplicate(book.Name)
	}
	if err != nil {
		return "", src.Errorf("%w", err)
	}
	return free, nil
}

// bookOf reads a lorebook that must exist.
func bookOf(c *call, src *chat.Chat, name string) (*lorebook.Book, error) {
	if !src.HasDir {
		return nil, src.Errorf("%w, so its lorebook %q cannot be found", ops.ErrNoUserFolder, name)
	}
	book, err := c.book(src.Dir, name)
	if errors.Is(err, lorebook.ErrMissing) {
		return nil, withKind(lorebook.ErrMissing, src.Errorf("the lorebook %q that the chat names does not exist", name))
	}
	if err != nil {
		return nil, src.Errorf("the lorebook that the chat names: %w", err)
	}
	return book, nil
}

// makeClones makes the clones' contents and points the metadata at them. In their entries,
// names of the source and of the books become those of the new chat and of the clones.
func makeClones(opt *Options, src *chat.Chat, p *plan, md *rawjson.Object, state *isolate.Facts, at int, r *Result) error {
	own, _ := lorebook.NameIn(md)
	clones := map[string]string{}
	for _, to := range p.clones {
		clones[to.from.Name] = to.name
	}
	for _, to := range p.clones {
		var made lorebook.Cloned
		var err error
		snapshot := opt.Lorebook == LorebookSnapshot && (to.from.Name == own || len(p.clones) == 1)
		if snapshot {
			made, err = makeSnapshot(opt, src, to, state, at, r)
		} else {
			made = to.from.Clone(lorebook.CloneOptions{Name: to.name, Internal: opt.Internal, Drop: opt.Drop})
		}
		if err != nil {
			return fmt.Errorf("the lorebook %q: %w", to.from.Name, err)
		}
		plain, err := lorebook.Parse(made.Data, to.path)
		if err != nil {
			return err
		}
		to.data = all.Table().RenameIn(made.Data, extension.Lorebook, extension.Book, clones)
		to.data = all.Table().RenameIn(to.data, extension.Lorebook, extension.OwnChat, map[string]string{src.Name: cmp.Or(p.name.File, src.Name)})
		book, err := lorebook.Parse(to.data, to.path)
		if err != nil {
			return err
		}
		renaming := &extension.Renaming{Metadata: md, From: to.from, Plain: plain, To: book, Snapshot: snapshot}
		isolate.Rebind(renaming)
		r.Doc.changed(renaming.Changes)
		r.Doc.addBook(Lorebook{Name: to.name, From: to.from.Name, Path: &to.path, Cloned: true, Dropped: made.Dropped})
	}
	return nil
}

// makeSnapshot makes the clone's content as of the nearest scene break.
func makeSnapshot(opt *Options, src *chat.Chat, to *clone, state *isolate.Facts, at int, r *Result) (lorebook.Cloned, error) {
	noted, from, ok, err := state.Recap().Snapshot(src.Source)
	if err != nil {
		return lorebook.Cloned{}, err
	}
	if !ok {
		return lorebook.Cloned{}, fmt.Errorf("%w: no visible scene break at or before message %d has a scene recap with allEntries", ErrNoSnapshot, at)
	}
	made, err := to.from.Snapshot(noted, lorebook.CloneOptions{Name: to.name, Internal: opt.Internal, Drop: opt.Drop})
	if err == nil {
		r.Doc.changed([]extension.Change{{Extension: "auto_recap", Change: fmt.Sprintf("lorebook as of the scene break at message %d", from)}})
	}
	return made, err
}

// shareBooks keeps the names of the source's lorebooks, as SillyTavern does, and warns of the
// consequences.
func shareBooks(c *call, src *chat.Chat, md *rawjson.Object, r *Result) {
	for _, name := range clonedBooks(md) {
		shared := Lorebook{Name: name, From: name}
		if src.HasDir {
			book, err := c.book(src.Dir, name)
			switch {
			case errors.Is(err, lorebook.ErrMissing):
				r.Warn("%s: the lorebook %q that the chat names does not exist", src.Label(), name)
			case err != nil:
				r.Warn("%s: the lorebook that the chat names: %v", src.Label(), err)
			default:
				shared.Path = &book.Path
				if n := book.InternalCount(); n > 0 {
					r.Warn("%s: the lorebook %q holds extension state (%s), and the new chat writes into the same book; a clone would be its own",
						src.Label(), name, plural.Of(n, "entry", "entries"))
				}
			}
		}
		r.Doc.addBook(shared)
	}
}

// ShareBooks adds to the document the lorebooks that a new chat's metadata names as its source's does,
// and warns of those that do not exist or that extensions write into.
func ShareBooks(lib *library.Library, src *chat.Chat, md *rawjson.Object, r *Result) {
	shareBooks(&call{library: lib}, src, md, r)
}

// noteBookless notes once how many chats had no lorebook to clone.
func noteBookless(plans []*plan) {
	bookless := slices.DeleteFunc(slices.Clone(plans), func(p *plan) bool { return !p.drafted.bookless })
	if n := len(bookless); n > 0 {
		bookless[0].res.Note("%s no lorebook, so nothing is cloned", plural.Of(n, "chat names", "chats name"))
	}
}
