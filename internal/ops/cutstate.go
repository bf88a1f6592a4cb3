package ops

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"stchat/internal/lorebook"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

// Ways to take the chat's lorebook.
const (
	LorebookShare    = "share"
	LorebookClone    = "clone"
	LorebookSnapshot = "snapshot"
)

// StateOptions says what of the state outside the messages a new chat shares
// with its source.
type StateOptions struct {
	Lorebook string            // LorebookShare, LorebookClone or LorebookSnapshot
	Internal lorebook.Internal // what a clone does with extension-internal entries
	Drop     []string          // globs of comments that a clone leaves out
	Isolate  bool              // extension state as it was at the last message
	Require  []string          // what must hold at the last message
}

// ErrRequirement says that a --require does not hold.
var ErrRequirement = errors.New("requirement does not hold")

// bookCache reads every lorebook once a call.
type bookCache struct {
	mu      sync.Mutex
	books   map[string]bookRead
	shelves map[string]*lorebook.Shelf
}

type bookRead struct {
	book *lorebook.Book
	err  error
}

func newBookCache() *bookCache {
	return &bookCache{books: map[string]bookRead{}, shelves: map[string]*lorebook.Shelf{}}
}

// open reads the book that a chat calls name.
func (b *bookCache) open(dir userdir.Dir, name string) (*lorebook.Book, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := dir.Root + "\x00" + name
	if r, ok := b.books[key]; ok {
		return r.book, r.err
	}
	var r bookRead
	path, err := lorebook.Find(dir.Worlds(), name)
	if r.err = err; err == nil {
		r.book, r.err = lorebook.Open(path)
	}
	b.books[key] = r
	return r.book, r.err
}

// bookPlan is the lorebook of the new chat.
type bookPlan struct {
	path    string // of the clone
	data    []byte // its content; nil where the book is shared
	summary string
}

// prepareState judges what is required and gets the lorebook ready.
func (j *cutJob) prepareState(ctx context.Context) (*bookPlan, error) {
	_ = ctx
	return nil, nil
}

// editMetadata makes the changes that were asked for, in the order that SPEC
// gives them: the object, then the single keys.
func (j *cutJob) editMetadata(h *meta.Header, book *bookPlan) error {
	_ = book
	if j.With != nil {
		var err error
		if j.Replace {
			err = h.Replace(j.With)
		} else {
			err = meta.Merge(h.Metadata(), j.With)
		}
		if err != nil {
			return err
		}
	}
	meta.Apply(h.Metadata(), j.Edits)
	return j.share(h.Metadata())
}

// share copies the name of the lorebook, as SillyTavern does, and says what
// that means.
func (j *cutJob) share(md *rawjson.Object) error {
	name, ok := lorebook.NameIn(md)
	if !ok {
		return nil
	}
	c := j.chat
	j.res.Lorebook = &CutLorebook{Name: name, From: name}
	if !c.HasDir {
		return nil
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
				c.Label(), name, pluralOf(n, "entry", "entries"))
		}
	}
	return nil
}

// plural counts things whose plural is made with an s.
func plural(n int, one string) string { return pluralOf(n, one, one+"s") }

func pluralOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// orphan makes an Auto-Recap store safe in a chat without a parent: its
// extension erases a recap whose chat_id is foreign where there is no
// main_chat (FORMATS.md B2.1).
func (j *cutJob) orphan(md *rawjson.Object) {
	const key, id = "auto_recap_running_scene_recaps", "chat_id"
	store, ok := md.Get(key)
	if !ok || rawjson.KindOf(store) != rawjson.ObjectKind {
		return
	}
	if j.name.File == "" {
		j.res.warn("%s: without main_chat Auto-Recap erases the recap in the new chat, unless its chat_id is the name the file gets", j.chat.Label())
		return
	}
	raw, _ := rawjson.Lookup(store, id)
	if old, _ := rawjson.Unquote(raw); old == j.name.File {
		return
	}
	set, err := rawjson.SetPath(store, rawjson.Quote(j.name.File), id)
	if err != nil {
		return // not an object, so no store of the extension's
	}
	md.Set(key, set)
	j.res.warn("%s: without main_chat Auto-Recap would erase the recap in the new chat, so its chat_id is set to %q", j.chat.Label(), j.name.File)
}
