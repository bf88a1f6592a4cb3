package lorebook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"stchat/internal/change/safefile"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/names"
)

// CloneOptions are the options of [Book.Clone] and [Book.Snapshot].
type CloneOptions struct {
	Name     string   // the clone's name
	Internal Internal // what becomes of extension-internal entries
	Drop     []string // globs, as [CheckGlob] accepts them: an entry whose whole comment matches one is left out
}

// Cloned is a clone that is not yet in any file.
type Cloned struct {
	Data    []byte // the file's content
	Entries int    // entries in it
	Dropped int    // entries of the book that were left out
}

// CheckGlob returns an error if a glob for entries to drop is malformed; see [Book.Clone].
func CheckGlob(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return nil
}

// Clone returns a copy of the book under another name. Entries that stay keep their
// bytes, uid, displayIndex and order. The other members of the file stay, too, but a
// name in it becomes the clone's. If entries is a list, those behind a dropped one move
// up, as they would in JavaScript.
//
// A glob matches a whole comment: * is any run of characters, including /; ? is one
// character, [a-z] and [^a-z] are one of a set, \ takes the next character literally.
// Letter case counts.
func (b *Book) Clone(opt CloneOptions) (c Cloned) {
	fate := func(e *Entry) (raw []byte, keep bool) {
		if matchesAny(opt.Drop, e.Comment) || e.Kind() != User && (opt.Internal == Default || opt.Internal == Drop) {
			c.Dropped++
			return nil, false
		}
		c.Entries++
		if e.Kind() == QueueLog && opt.Internal == Reset {
			return rawjson.Edit(e.Raw, func(o *rawjson.Object) { o.Set("content", rawjson.Quote(emptyQueue)) }), true
		}
		return e.Raw, true
	}

	entries := b.entries
	if rawjson.KindOf(entries) == rawjson.Array {
		entries = rawjson.EditList(entries, func(i int, _ []byte) ([]byte, bool) { return fate(&b.Entries[i]) })
	} else {
		entries = rawjson.Edit(entries, func(object *rawjson.Object) {
			for i := range b.Entries {
				e := &b.Entries[i]
				switch raw, keep := fate(e); {
				case !keep:
					object.Unset(e.Key)
				case !bytes.Equal(raw, e.Raw):
					object.Set(e.Key, raw)
				}
			}
		})
	}

	c.Data = b.with(entries, opt.Name)
	return c
}

// with returns the book's file with other entries and under another name.
func (b *Book) with(entries []byte, name string) []byte {
	return rawjson.Edit(b.Raw, func(book *rawjson.Object) {
		book.Set("entries", entries)
		if book.Has("name") { // of any kind
			book.Set("name", rawjson.Quote(name))
		}
	})
}

// matchesAny reports whether a glob matches the comment. In path.Match, * does not match
// a /, which means nothing in a comment, so it is replaced in both.
func matchesAny(globs []string, comment string) bool {
	const hidden = "\x00"
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, err := path.Match(strings.ReplaceAll(glob, "/", hidden), strings.ReplaceAll(comment, "/", hidden))
		return ok && err == nil
	})
}

// Shelf knows which names in a worlds folder are taken, including those that it has
// given out, so that no two clones of one run get the same name. It is safe for
// concurrent use.
type Shelf struct {
	mu    sync.Mutex
	taken map[string]bool // folded, as a file system that ignores letter case compares
}

// OpenShelf reads the names in a worlds folder; a folder that does not exist is empty.
func OpenShelf(worldsDir string) (*Shelf, error) {
	s := &Shelf{taken: map[string]bool{}}
	entries, err := safefile.ReadDir(worldsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		name := names.Fold(entry.Name())
		if stem, ok := strings.CutSuffix(name, Extension); ok {
			s.taken[stem] = true
		}
	}
	return s, nil
}

// cloneJoin separates a book's name from the label of a checkpoint or branch.
const cloneJoin = "__CP_"

// ForChat returns the name of the clone for a checkpoint or branch of a chat that
// uses book: "<book>__CP_<label>". If that is too long, the middle of the book's name is
// shortened. If the name is taken, " (1)", " (2)" and so on is appended.
func (s *Shelf) ForChat(book, label string) (string, error) {
	return s.free(0, func(room int) string { return names.Derive(book, cloneJoin, label, room) })
}

// CloneLabel returns the label of the checkpoint or branch for which a book was cloned, from
// its name; "" if that has none.
func CloneLabel(book string) string {
	at := strings.LastIndex(book, cloneJoin)
	if at < 0 {
		return ""
	}
	return book[at+len(cloneJoin):]
}

// CloneOf returns the lorebook of which a book is a clone by its name: <book> for "<book> (n)"
// and "<book>__CP_<label>". ok is false if there is no such book.
func (s *Shelf) CloneOf(name string) (book string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, _, _ := strings.Cut(name, cloneJoin)
	for _, base := range []string{withoutNumber(name), before} {
		if base != name && s.taken[names.Fold(base)] {
			return base, true
		}
	}
	return "", false
}

// Given makes a user's name for a clone safe. A taken name gets a number, as in
// [Shelf.ForChat].
func (s *Shelf) Given(name string) (string, error) {
	return s.free(0, func(int) string { return name })
}

// Duplicate returns the name of a plain copy, as SillyTavern numbers them: "<book>
// (1)", "<book> (2)" and so on. One such number at the end of book is removed first.
func (s *Shelf) Duplicate(book string) (string, error) {
	book = withoutNumber(book)
	return s.free(1, func(room int) string { return names.Shorten(book, room) })
}

// free returns the first free name among base, "base (1)", "base (2)" and so on, beginning
// with number from (0 is base itself), and marks it as taken. base is called with the
// number of bytes that there is room for.
func (s *Shelf) free(from int, base func(room int) string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const tries = 100_000 // more copies than anybody has, so that the loop ends
	for i := from; i < from+tries; i++ {
		suffix := ""
		if i > 0 {
			suffix = fmt.Sprintf(" (%d)", i)
		}
		room := MaxBytes - len(suffix)
		name, err := names.New(base(room), room)
		if err != nil {
			return "", fmt.Errorf("name of the lorebook's clone: %w", err)
		}
		name += suffix
		if folded := names.Fold(name); !s.taken[folded] {
			s.taken[folded] = true
			return name, nil
		}
	}
	return "", fmt.Errorf("name of the lorebook's clone: every name like %q is taken", base(MaxBytes))
}

// withoutNumber removes one " (n)" from the end of a name.
func withoutNumber(name string) string {
	open := strings.LastIndex(name, " (")
	if open <= 0 || !strings.HasSuffix(name, ")") {
		return name
	}
	digits := name[open+2 : len(name)-1]
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return name
	}
	return name[:open]
}
