package library

import (
	"errors"
	"hash/fnv"
	"slices"
	"strings"

	"stchat/internal/extension/autorecap"
	"stchat/internal/lorebook"
	"stchat/internal/place/userdir"
)

// Book is what is kept of a lorebook that was read: a digest, so that memory does not grow with
// the books.
type Book struct {
	Path       string // empty: there is none
	Exists     bool   // false, too, for what is not a file
	Err        error  // why it cannot be read; nothing below is known then
	Entries    int
	Internal   int   // how many of these are extension-internal
	Pending    int   // operations in its queue
	QueueErr   error // why these cannot be read
	Lost       []autorecap.Reference
	LostUnkept int // how many more there are than Lost has, the first references to uids that the book lacks

	uids []uint64 // hashes of the entries' uids, in order
}

// MostLost is how many references to missing uids are kept of a book.
const MostLost = 100

// BookOf returns what is known of the lorebook that a chat in the user folder calls name.
func (l *Library) BookOf(dir userdir.Dir, name string) *Book {
	path, err := l.Book(dir, name)
	_, unsafe := errors.AsType[*userdir.UnsafeNameError](err)
	switch {
	case unsafe || errors.Is(err, lorebook.ErrMissing):
		return new(Book)
	case err != nil:
		return &Book{Path: path, Err: err}
	}

	return l.digests.Get(path, func() *Book { return ReadBook(path) })
}

// ReadBook returns what is known of the lorebook in a file that exists.
func ReadBook(path string) *Book {
	stored, err := lorebook.Open(path)
	if err != nil {
		return &Book{Path: path, Exists: true, Err: err}
	}
	return digest(stored, path)
}

// digest returns what is kept of a lorebook.
func digest(stored *lorebook.Book, path string) *Book {
	b := &Book{Path: path, Exists: true}
	b.Entries = len(stored.Entries)
	b.Internal = stored.InternalCount()
	for i := range stored.Entries {
		b.uids = append(b.uids, hashUID(stored.Entries[i].UID))
	}
	slices.Sort(b.uids)

	queue, err := stored.Queue()
	b.Pending = queue.Pending()
	b.QueueErr = err

	for _, ref := range autorecap.References(stored) {
		if ref.Found {
			continue
		}
		if len(b.Lost) == MostLost {
			b.LostUnkept++
			continue
		}
		// the text must not hold the whole book in memory
		ref.Comment = strings.Clone(ref.Comment)
		ref.UID = strings.Clone(ref.UID)
		b.Lost = append(b.Lost, ref)
	}
	return b
}

// hashUID hashes a uid, so that no texts of the many books are kept.
func hashUID(uid string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid)) // never fails
	return h.Sum64()
}

// Holds reports whether the book has an entry with the uid.
func (b *Book) Holds(uid string) bool {
	_, found := slices.BinarySearch(b.uids, hashUID(uid))
	return found
}
