package lorebook

import (
	"fmt"
	"path"
	"strings"

	"stchat/internal/rawjson"
)

// CloneOptions are the options of [Book.Clone].
type CloneOptions struct {
	Name     string   // the clone's name
	Internal Internal // what becomes of extension-internal entries; Default is Drop
	Drop     []string // globs: an entry whose whole comment matches one is left out
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
// Letter case counts. The error is that of a bad glob.
func (b *Book) Clone(opt CloneOptions) (Cloned, error) {
	for _, glob := range opt.Drop {
		if err := CheckGlob(glob); err != nil {
			return Cloned{}, err
		}
	}
	c := Cloned{}
	fate := func(e *Entry) (raw []byte, keep bool) {
		keep = !matchesAny(opt.Drop, e.Comment)
		if e.Kind() != User && (opt.Internal == Default || opt.Internal == Drop) {
			keep = false
		}
		if !keep {
			c.Dropped++
			return nil, false
		}
		c.Entries++
		if e.Kind() == QueueLog && opt.Internal == Reset {
			return withEmptyQueue(e.Raw), true
		}
		return e.Raw, true
	}
	entries := b.entries
	if rawjson.KindOf(entries) == rawjson.Array {
		entries = rawjson.EditList(entries, func(i int, _ []byte) ([]byte, bool) { return fate(&b.Entries[i]) })
	} else {
		object, err := rawjson.ParseObject(entries)
		if err != nil {
			return Cloned{}, &NotReadableError{Path: b.Path, Err: err}
		}
		for i := range b.Entries {
			e := &b.Entries[i]
			switch raw, keep := fate(e); {
			case !keep:
				object.Unset(e.Key)
			case len(raw) != len(e.Raw) || string(raw) != string(e.Raw):
				object.Set(e.Key, raw)
			}
		}
		entries = object.Bytes()
	}
	data, err := b.with(entries, opt.Name)
	c.Data = data
	return c, err
}

// with returns the book's file with other entries and under another name.
func (b *Book) with(entries []byte, name string) ([]byte, error) {
	object, err := rawjson.ParseObject(b.Raw)
	if err != nil {
		return nil, &NotReadableError{Path: b.Path, Err: err}
	}
	object.Set("entries", entries)
	if _, ok := object.Get("name"); ok { // of any kind
		object.Set("name", rawjson.Quote(name))
	}
	return object.Bytes(), nil
}

// withEmptyQueue returns a queue entry with nothing to do in it.
func withEmptyQueue(entry []byte) []byte {
	edited, err := rawjson.SetPath(entry, rawjson.Quote(emptyQueue), "content")
	if err != nil {
		return entry // not an object, so it has no comment and never gets here
	}
	return edited
}

// matchesAny reports whether a glob matches the comment. In path.Match, * does not match
// a /, which means nothing in a comment, so it is replaced in both.
func matchesAny(globs []string, comment string) bool {
	const hidden = "\x00"
	for _, glob := range globs {
		if ok, err := path.Match(strings.ReplaceAll(glob, "/", hidden), strings.ReplaceAll(comment, "/", hidden)); ok && err == nil {
			return true
		}
	}
	return false
}
