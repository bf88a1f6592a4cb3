package inspect

import (
	"errors"

	"stchat/internal/library"
	"stchat/internal/lorebook"
	"stchat/internal/userdir"
)

// Around knows what lies around chats, and looks each thing up once. It is
// safe for use by several goroutines at once.
type Around struct {
	library.Library
	books library.Once[*book] // by path
}

// NewAround returns one that has looked up nothing yet.
func NewAround() *Around { return new(Around) }

// book is what is reported of a lorebook.
type book struct {
	path                       string // empty: it does not exist
	exists                     bool
	entries, internal, pending int
	err                        error // why it cannot be read; queueErr concerns pending alone
	queueErr                   error
}

// book returns what is known of the lorebook that a chat in the user folder calls name.
func (a *Around) book(dir userdir.Dir, name string) *book {
	path, err := a.Book(dir, name)
	switch _, unsafe := errors.AsType[*userdir.UnsafeNameError](err); {
	case unsafe || errors.Is(err, lorebook.ErrMissing):
		return new(book)
	case err != nil:
		return &book{err: err}
	}
	return a.books.Get(path, func() *book {
		b := &book{path: path, exists: true}
		opened, err := lorebook.Open(path)
		if err != nil {
			b.err = err
			return b
		}
		b.entries, b.internal = len(opened.Entries), opened.InternalCount()
		queue, queueErr := opened.Queue()
		b.pending, b.queueErr = queue.Pending(), queueErr
		return b
	})
}

// report describes the lorebook in the user folder, if that is known.
func (a *Around) report(dir userdir.Dir, hasDir bool, name string) *Lorebook {
	l := &Lorebook{Name: name}
	if !hasDir {
		return l
	}
	b := a.book(dir, name)
	l.Exists = &b.exists
	switch {
	case b.err != nil:
		l.Error = new(b.err.Error())
	case b.exists:
		l.Entries, l.Internal = &b.entries, &b.internal
		if b.queueErr != nil {
			l.Error = new(b.queueErr.Error())
		} else {
			l.Pending = &b.pending
		}
	}
	return l
}
