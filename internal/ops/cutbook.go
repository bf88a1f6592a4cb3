package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"stchat/internal/chat"
	"stchat/internal/isolate"
	"stchat/internal/lorebook"
	"stchat/internal/memo"
	"stchat/internal/meta"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

// bookCache reads every lorebook once a call, and gives away the names of
// clones so that no two chats get one.
type bookCache struct {
	books   memo.Memo[bookRead]
	shelves memo.Memo[shelfRead]
}

type bookRead struct {
	book *lorebook.Book
	err  error
}

type shelfRead struct {
	shelf *lorebook.Shelf
	err   error
}

// open reads the book that a chat calls name.
func (b *bookCache) open(dir userdir.Dir, name string) (*lorebook.Book, error) {
	r := b.books.Get(dir.Root+"\x00"+name, func() bookRead {
		path, err := lorebook.Find(dir.Worlds(), name)
		if err != nil {
			return bookRead{nil, pathError(err)}
		}
		book, err := lorebook.Open(path)
		return bookRead{book, pathError(err)}
	})
	return r.book, r.err
}

// shelf gives the names of a worlds folder.
func (b *bookCache) shelf(dir userdir.Dir) (*lorebook.Shelf, error) {
	r := b.shelves.Get(dir.Root, func() shelfRead {
		shelf, err := lorebook.OpenShelf(dir.Worlds())
		return shelfRead{shelf, pathError(err)}
	})
	return r.shelf, r.err
}

// bookPlan is the clone of a lorebook that a new chat gets.
type bookPlan struct {
	from    *lorebook.Book
	name    string // the clone's
	path    string
	data    []byte
	entries int
}

// clones tells whether the new chats get lorebooks of their own.
func (c *cut) clones() bool { return c.State.Lorebook != LorebookShare }

// nameClone gives the clone its name, in the order of the sources. What is
// wrong with the chat itself is for run to say.
func (j *cutJob) nameClone(ctx context.Context) error {
	if err := j.open(ctx); err != nil {
		return err
	}
	if j.path != chat.Stdin {
		defer j.chat.Close()
	}
	// a copy, since run edits the header of a chat that is still open anew
	h := meta.ParseLenient(j.chat.OutputHeader().Bytes())
	if err := j.mergeWith(h); err != nil {
		return j.chat.Errorf("%w", err)
	}
	meta.Apply(h.Metadata(), j.Edits)
	name, ok := lorebook.NameIn(h.Metadata())
	if !ok {
		return nil
	}
	book, err := j.bookOf(name)
	if err != nil {
		return err
	}
	shelf, err := j.books.shelf(j.chat.Dir)
	if err != nil {
		return err
	}
	var clone string
	if label := cmp.Or(j.name.Label, j.chat.Name); label != "" {
		clone, err = shelf.ForChat(book.Name, label)
	} else { // from standard input to standard output
		clone, err = shelf.Duplicate(book.Name)
	}
	if err != nil {
		return j.chat.Errorf("%w", err)
	}
	j.book = &bookPlan{from: book, name: clone, path: filepath.Join(j.chat.Dir.Worlds(), clone+lorebook.Extension)}
	return nil
}

// bookOf reads a lorebook that has to be there.
func (j *cutJob) bookOf(name string) (*lorebook.Book, error) {
	c := j.chat
	if !c.HasDir {
		return nil, c.Errorf("the chat is in no SillyTavern user folder, so its lorebook %q cannot be found; give the folder with --data", name)
	}
	book, err := j.books.open(c.Dir, name)
	if errors.Is(err, lorebook.ErrMissing) {
		without := "--lorebook share takes the name alone"
		if j.State.Isolate {
			without = "--unset world_info leaves the name out"
		}
		return nil, c.Errorf("the lorebook %q that the chat names does not exist; %s", name, without)
	}
	if err != nil {
		return nil, c.Errorf("the lorebook that the chat names: %w", err)
	}
	return book, nil
}

// clone makes the clone's content, and points the metadata at it.
func (j *cutJob) clone(md *rawjson.Object, facts *isolate.Facts) error {
	b := j.book
	if b == nil {
		j.res.note("%s: the chat names no lorebook, so there is none to clone", j.chat.Label())
		return nil
	}
	var made lorebook.Cloned
	var err error
	snapshot := j.State.Lorebook == LorebookSnapshot
	if snapshot {
		made, err = j.snapshot(facts)
	} else {
		made, err = b.from.Clone(lorebook.CloneOptions{Name: b.name, Internal: j.State.Internal, Drop: j.State.Drop})
	}
	if err != nil {
		return fmt.Errorf("the lorebook %q: %w", b.from.Name, err)
	}
	book, err := lorebook.Parse(made.Data, b.path)
	if err != nil {
		return err
	}
	j.changed(isolate.Follow(md, isolate.Rebinding{From: b.from, Clone: book, Snapshot: snapshot}))
	b.data, b.entries = made.Data, made.Entries
	j.res.Lorebook = &CutLorebook{Name: b.name, From: b.from.Name, Path: &b.path, Cloned: true, Dropped: made.Dropped}
	return nil
}

// share copies the name of the lorebook, as SillyTavern does, and says what
// that means.
func (j *cutJob) share(md *rawjson.Object) {
	name, ok := lorebook.NameIn(md)
	if !ok {
		return
	}
	c := j.chat
	j.res.Lorebook = &CutLorebook{Name: name, From: name}
	if !c.HasDir {
		return
	}
	book, err := j.books.open(c.Dir, name)
	switch {
	case errors.Is(err, lorebook.ErrMissing):
		j.res.warn("%s: the lorebook %q that the chat names does not exist", c.Label(), name)
	case err != nil:
		j.res.warn("%s: the lorebook that the chat names: %v", c.Label(), err)
	default:
		j.res.Lorebook.Path = &book.Path
		if n := book.InternalCount(); n > 0 {
			j.res.warn("%s: the lorebook %q holds extension state (%s), and the new chat writes into the same book; --lorebook clone or --isolate gives it its own",
				c.Label(), name, plural.Of(n, "entry", "entries"))
		}
	}
}
