package cut

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"stchat/internal/change/changeset"
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

// nameClones chooses the names of the clones of all lorebooks that an open source names.
func nameClones(c *call, j *job) ([]*clone, error) {
	// a copy, since the new header is made of the chat's own
	h := meta.ParseLenient(j.src.OutputHeader().Bytes())
	if err := h.Change(c.opt.Values.Apply); err != nil {
		return nil, j.src.Errorf("%w", err)
	}
	own, _ := lorebook.NameIn(h.Metadata())
	var clones []*clone
	for _, name := range clonedBooks(h.Metadata()) {
		book, err := bookOf(c.library, j.src, name)
		if errors.Is(err, lorebook.ErrMissing) && name != own {
			j.res.Warn("%v, so it is not cloned, and the new chat names it too", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		isNamed := slices.ContainsFunc(clones, func(k *clone) bool { return k.from == book })
		if isNamed {
			continue
		}
		free, err := freeName(c.library, j, book)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(j.src.Dir.Worlds(), free+lorebook.Extension)
		clones = append(clones, &clone{from: book, name: free, path: path})
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
func freeName(lib *library.Library, j *job, book *lorebook.Book) (string, error) {
	shelf, err := lib.Shelf(j.src.Dir.Worlds())
	if err != nil {
		return "", ops.PathError(err)
	}
	label := cmp.Or(j.name.Label, j.src.Name)
	var free string
	if label != "" {
		free, err = shelf.ForChat(book.Name, label)
	} else { // from standard input to standard output
		free, err = shelf.Duplicate(book.Name)
	}
	if err != nil {
		return "", j.src.Errorf("%w", err)
	}
	return free, nil
}

// bookOf reads a lorebook that must exist.
func bookOf(lib *library.Library, src *chat.Chat, name string) (*lorebook.Book, error) {
	if !src.HasDir {
		return nil, src.Errorf("%w, so its lorebook %q cannot be found", ops.ErrNoUserFolder, name)
	}
	book, err := readBook(lib, src.Dir, name)
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
func makeClones(opt *Options, j *job, md *rawjson.Object) error {
	own, _ := lorebook.NameIn(md)
	books := map[string]string{}
	for _, to := range j.clones {
		books[to.from.Name] = to.name
	}
	chats := map[string]string{j.src.Name: cmp.Or(j.name.File, j.src.Name)}

	for _, to := range j.clones {
		isOwn := to.from.Name == own || len(j.clones) == 1
		isSnapshot := opt.Lorebook == LorebookSnapshot && isOwn
		var made lorebook.Cloned
		var err error
		if isSnapshot {
			made, err = makeSnapshot(opt, j, to)
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
		to.data = all.Table().RenameIn(made.Data, extension.Lorebook, extension.Book, books)
		to.data = all.Table().RenameIn(to.data, extension.Lorebook, extension.OwnChat, chats)
		book, err := lorebook.Parse(to.data, to.path)
		if err != nil {
			return err
		}

		renaming := &extension.Renaming{Metadata: md, From: to.from, Plain: plain, To: book, Snapshot: isSnapshot}
		isolate.Rebind(renaming)
		j.res.Doc.changed(renaming.Changes)
		j.res.Doc.addBook(Lorebook{Name: to.name, From: to.from.Name, Path: &to.path, Cloned: true, Dropped: made.Dropped})
	}
	return nil
}

// draftClones drafts the files of the clones.
func draftClones(set *changeset.Set, clones []*clone) error {
	for _, to := range clones {
		err := ops.Create(set, to.path, fmt.Sprintf("the lorebook %q", to.name), to.data, changeset.Like(to.from.Stamp))
		if err != nil {
			return err
		}
	}
	return nil
}

// makeSnapshot makes the clone's content as of the nearest scene break.
func makeSnapshot(opt *Options, j *job, to *clone) (lorebook.Cloned, error) {
	noted, from, ok, err := j.state.Recap().Snapshot(j.src.Source)
	if err != nil {
		return lorebook.Cloned{}, err
	}
	if !ok {
		return lorebook.Cloned{}, fmt.Errorf("%w: no visible scene break at or before message %d has a scene recap with allEntries", ErrNoSnapshot, j.last.index)
	}
	made, err := to.from.Snapshot(noted, lorebook.CloneOptions{Name: to.name, Internal: opt.Internal, Drop: opt.Drop})
	if err == nil {
		j.res.Doc.changed([]extension.Change{{Extension: "auto_recap", Change: fmt.Sprintf("lorebook as of the scene break at message %d", from)}})
	}
	return made, err
}

// ShareBooks adds to the document the lorebooks that a new chat's metadata names as its source's
// does, which is what SillyTavern does, and warns of those that do not exist or that extensions
// write into.
func ShareBooks(lib *library.Library, src *chat.Chat, md *rawjson.Object, r *Result) {
	for _, name := range clonedBooks(md) {
		shared := Lorebook{Name: name, From: name}
		if src.HasDir {
			book, err := readBook(lib, src.Dir, name)
			switch {
			case errors.Is(err, lorebook.ErrMissing):
				r.Warn("%s: the lorebook %q that the chat names does not exist", src.Label(), name)
			case err != nil:
				r.Warn("%s: the lorebook that the chat names: %v", src.Label(), err)
			default:
				shared.Path = &book.Path
				warnOfState(src, name, book, r)
			}
		}

		r.Doc.addBook(shared)
	}
}

// warnOfState warns of a lorebook that the new chat and its source both write into.
func warnOfState(src *chat.Chat, name string, book *lorebook.Book, r *Result) {
	n := book.InternalCount()
	if n > 0 {
		fact := ops.Fact{Kind: ops.FactSharedBook, Name: name, Count: n}
		r.WarnOf(fact, "%s: both chats now write to lorebook %q, in which extensions keep %s; 'stchat clone-lorebook --rebind CHAT' gives the new one its own",
			src.Label(), name, plural.Of(n, "entry", "entries"))
	}
}

// noteBookless notes once how many chats had no lorebook to clone.
func noteBookless(jobs []*job) {
	bookless := slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return !j.drafted.bookless })
	n := len(bookless)
	if n > 0 {
		bookless[0].res.Tell(ops.Fact{Kind: ops.FactNoBook, Count: n})
	}
}
