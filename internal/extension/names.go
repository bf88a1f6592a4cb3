package extension

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/jsonl/rawjson"
)

// File is a kind of file that holds names.
type File uint8

// The kinds of files.
const (
	Metadata File = iota // the chat_metadata of a chat
	Lorebook
	Settings // settings.json
)

// Named is what a name is of.
type Named uint8

// What names are of.
const (
	Book Named = iota
	OwnChat
)

// Each in a path stands for every member of an object or element of a list.
const Each = "*"

// NameKey is a key whose value is the name of a chat or of a lorebook.
type NameKey struct {
	Extension string
	File      File
	Named     Named
	Path      []string // of keys, and Each
	Past      bool     // it notes a name of the past: a rename changes it, but nobody opens what it names
}

// String returns the path as in "auto_lorebooks/lorebookName".
func (k NameKey) String() string { return strings.Join(k.Path, "/") }

// Key returns a key with a path as in "auto_lorebooks/lorebookName"; * is [Each].
func Key(file File, named Named, path string) NameKey {
	return NameKey{File: file, Named: named, Path: strings.Split(path, "/")}
}

// PastKey is [Key] for a name of the past.
func PastKey(file File, named Named, path string) NameKey {
	k := Key(file, named, path)
	k.Past = true
	return k
}

// NameKeys is a table of keys that hold names. What clones, renames, moves, deletes or checks
// goes through that of all extensions, so that a key that is listed there is forgotten nowhere.
// Links on messages, the lists of groups and the two names in a card are SillyTavern's own
// structure, which the packages message, group and card know.
type NameKeys []NameKey

// NamesOf returns the table of some extensions.
func NamesOf(list []Extension) (table NameKeys) {
	for _, e := range list {
		about := e.About()
		for _, k := range about.Names {
			k.Extension = about.Name
			table = append(table, k)
		}
	}
	return table
}

// Rename replaces the names of one kind in the root object of a file by what to returns for
// them, every other byte kept. In the path of the key that to gets, keys and indexes stand for
// [Each]. It does not ask for empty names.
func (t NameKeys) Rename(root *rawjson.Object, file File, named Named, to func(k NameKey, name string) string) {
	for _, k := range t {
		if k.File != file || k.Named != named {
			continue
		}
		edit := func(raw []byte) []byte {
			name, ok := rawjson.Unquote(raw)
			if !ok || name == "" {
				return raw
			}
			if other := to(k, name); other != name {
				return rawjson.Quote(other)
			}
			return raw
		}
		editMember(root, k.Path, edit)
	}
}

// Replace renames one chat or lorebook wherever the root object of a file names it, and
// returns in how many places.
func (t NameKeys) Replace(root *rawjson.Object, file File, named Named, from, to string) (n int) {
	t.Rename(root, file, named, func(_ NameKey, name string) string {
		if name != from || from == to {
			return name
		}
		n++
		return to
	})
	return n
}

// Books returns the names of the lorebooks that a chat's metadata names, each once: the
// chat's own first, then those of extensions.
func (t NameKeys) Books(metadata *rawjson.Object) (names []string) {
	t.Rename(metadata, Metadata, Book, func(k NameKey, name string) string {
		if !k.Past && !slices.Contains(names, name) {
			names = append(names, strings.Clone(name))
		}
		return name
	})
	return names
}

// editMember edits the values at the end of a path in an object.
func editMember(o *rawjson.Object, path []string, edit func([]byte) []byte) {
	raw, ok := o.Get(path[0])
	if !ok {
		return
	}
	if edited := editAt(raw, path[1:], edit); !bytes.Equal(edited, raw) {
		o.Set(path[0], edited)
	}
}

// editAt edits the values at the end of a path. On the way, the step that is [Each] is what it
// stands for.
func editAt(raw []byte, path []string, edit func([]byte) []byte) []byte {
	switch {
	case len(path) == 0:
		return edit(raw)
	case path[0] != Each:
		return rawjson.Edit(raw, func(o *rawjson.Object) { editMember(o, path, edit) })
	}
	defer func() { path[0] = Each }()
	if rawjson.KindOf(raw) == rawjson.Array {
		return rawjson.EditList(raw, func(i int, value []byte) ([]byte, bool) {
			path[0] = strconv.Itoa(i)
			return editAt(value, path[1:], edit), true
		})
	}
	return rawjson.Edit(raw, func(o *rawjson.Object) {
		for _, key := range o.Keys() {
			path[0] = key
			editMember(o, path, edit)
		}
	})
}

// RenameIn returns the content of a file with names of one kind changed to what they are in to, every
// other byte kept.
func (t NameKeys) RenameIn(content []byte, file File, named Named, to map[string]string) []byte {
	return rawjson.Edit(content, func(root *rawjson.Object) {
		t.Rename(root, file, named, func(_ NameKey, name string) string {
			if now, ok := to[name]; ok {
				return now
			}
			return name
		})
	})
}
