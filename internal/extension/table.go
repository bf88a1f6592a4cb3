package extension

import (
	"slices"
	"strings"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/names"
)

// Row is one thing that an extension keeps and that refers to a chat, its messages or its
// lorebook: where it lies, and what it holds. What isolates, edits, renames, clones, moves, deletes
// and checks goes through the rows of all extensions, so that a row is forgotten nowhere.
// Links on messages, the lists of groups and the two names in a card are SillyTavern's own
// structure, which the packages message, group and card know.
type Row struct {
	Extension string // whose it is
	File      File
	Path      string // of keys, as "auto_lorebooks/lorebookName"; see [Each], [Numbered] and [Named]
	Holds     Holds

	// What it is, for people: "snapshot" for one of several values, and for a text what its message
	// loses, "the summary". A single number is called by its key.
	What string
	// None is what the extension writes where a number is of no message; "": it has no such key.
	None string
	// Stays says why a number is left as it is, even if its message goes; "": it is not.
	Stays string
	// Leaves is what goes by the messages, or by a chat's name, too, and stays as it is. It is told
	// where something of the row is removed from a branch, or renamed.
	Leaves string
	// Heals says that a number beyond the end does no harm, since the extension sets it anew.
	Heals bool
	// Rule is the rule that a number beyond the end breaks; "": beyond-end.
	Rule string
	// Past says that a name is of the past: a rename changes it, but nobody opens what it names.
	Past bool
}

// File is a kind of file, or a place in one.
type File uint8

// The kinds of files.
const (
	Metadata File = iota // the chat_metadata of a chat
	Extra                // the extra of a message
	Line                 // a message itself
	Lorebook
	Settings // settings.json
)

// Holds is what a row holds.
type Holds uint8

// What rows hold. [Index] to [Count] are numbers, of which the first message is 0.
const (
	Book    Holds = iota // the name of a lorebook
	OwnChat              // the name of the chat that it is about
	Index                // a message, with which it moves and goes
	Place                // a message, with which it goes, also if that gets another number
	First                // the first message that something is about; the next one takes its place
	Last                 // the last message that something is about; the one before takes its place
	Count                // how many messages something is about, from the first one on
	Text                 // what is said about the message that it is in, and goes with it
	Apart                // nothing that goes by messages, or what the extension makes anew by itself
)

// Steps of a path that stand for a key.
const (
	Each     = "*" // every member of an object or element of a list
	Numbered = "#" // the last step: every member whose key is the number of a message
	Named    = "@" // the member whose key is the name of the chat; it has what the rest of the path says
)

// Key returns a row for a key that holds a name.
func Key(file File, holds Holds, path string) Row { return Row{File: file, Holds: holds, Path: path} }

// PastKey is [Key] for a name of the past.
func PastKey(file File, holds Holds, path string) Row {
	return Row{File: file, Holds: holds, Path: path, Past: true}
}

// Table is the rows of extensions.
type Table []Row

// TableOf returns the table of some extensions.
func TableOf(list []Extension) (table Table) {
	for _, e := range list {
		about := e.About()
		for _, r := range about.Rows {
			r.Extension = about.Name
			table = append(table, r)
		}
	}
	return table
}

// Rename replaces the names of one kind in the root object of a file by what to returns for
// them, every other byte kept. In the path of the row that to gets, keys and indexes stand for
// [Each]. It does not ask for empty names. Where the name is a key, and there is one of
// the new name already, both stay.
func (t Table) Rename(root *rawjson.Object, file File, holds Holds, to func(r Row, name string) string) {
	for _, r := range t {
		if r.File != file || r.Holds != holds || !r.mayBeIn(root) {
			continue
		}
		w := newWalk(r)
		w.edit = func(raw []byte) ([]byte, bool) {
			name, ok := rawjson.Unquote(raw)
			if !ok || name == "" {
				return raw, true
			}
			at := r
			at.Path = w.here()
			if other := to(at, name); other != name {
				return rawjson.Quote(other), true
			}
			return raw, true
		}

		w.object(root, 0)
	}
}

// Replace renames one chat or lorebook wherever the root object of a file names it, and
// returns in how many places. See [names.LeadsTo].
func (t Table) Replace(root *rawjson.Object, file File, holds Holds, from, to string) (n int) {
	t.Rename(root, file, holds, func(_ Row, name string) string {
		if !names.LeadsTo(name, from) || from == to {
			return name
		}
		n++
		return to
	})
	return n
}

// SetOwn makes a chat's metadata note name wherever it notes the chat's own, which was called was. A
// value can only be its own, whatever it says; of keys only the one that is the old name is.
func (t Table) SetOwn(metadata *rawjson.Object, was, name string) {
	t.Rename(metadata, Metadata, OwnChat, func(r Row, noted string) string {
		if r.IsKey() && noted != was {
			return noted
		}
		return name
	})
}

// IsKey reports whether the name of a chat is a key, under which there may be another's, too.
func (r Row) IsKey() bool { return strings.Contains(r.Path, Named) }

// OfChat returns the extension that keeps a value of chat_metadata under the name of a chat; "": none
// does.
func (t Table) OfChat(value []byte) (name string) {
	for _, r := range t {
		if r.File != Metadata || r.Holds != OwnChat || !strings.HasPrefix(r.Path, Named) {
			continue
		}
		if isIn(value, strings.Split(r.Path, "/")[1:]) {
			return r.Extension
		}
	}
	return ""
}

// Books returns the names of the lorebooks that a chat's metadata names, each once: the
// chat's own first, then those of extensions.
func (t Table) Books(metadata *rawjson.Object) (names []string) {
	t.Rename(metadata, Metadata, Book, func(r Row, name string) string {
		if !r.Past && !slices.Contains(names, name) {
			names = append(names, strings.Clone(name))
		}
		return name
	})
	return names
}

// RenameIn returns the content of a file with names of one kind changed to what they are in to, every
// other byte kept. See [names.Renamed].
func (t Table) RenameIn(content []byte, file File, holds Holds, to map[string]string) []byte {
	return rawjson.Edit(content, func(root *rawjson.Object) {
		t.Rename(root, file, holds, func(_ Row, name string) string {
			if now, ok := names.Renamed(to, name); ok {
				return now
			}
			return name
		})
	})
}
