package group

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/jsonl/rawjson"
)

// Edit is a change of one group file for any number of chats, as a [changeset.Edit]. It is
// not a [changeset.Bytes], since thousands of chats may change one file in a call.
type Edit struct {
	Path   string
	Unlist []string // names, as they are written, that leave the list
	List   []string // chats to list
	Forget []string // chats whose metadata leaves the file
	Open   string   // the chat that the group opens with; "" for the one it has

	Names   func(name string) (to string, keep bool) // what becomes of names, as in [File.WithNames]; nil: they stay
	Instead string                                   // what the group opens with, and lists, if Names does not keep the chat it has

	joined bool // Join made it, and may append to its lists
}

// List drafts that a group lists chats, and, with open, that it opens with the first.
func List(s *changeset.Set, path, about string, open bool, chats ...string) error {
	e := &Edit{Path: path, List: chats}
	if open {
		e.Open = chats[0]
	}
	return s.Edit(path, safefile.Stamp{}, e, about)
}

// Join implements [changeset.Edit].
func (e *Edit) Join(next changeset.Edit) (changeset.Edit, error) {
	n, ok := next.(*Edit)
	if !ok || e.Names != nil && n.Names != nil {
		return nil, fmt.Errorf("%s: two edits that do not go together", e.Path)
	}
	all := e
	if !e.joined {
		clone := *e
		all = &clone
		all.Unlist = slices.Clone(e.Unlist)
		all.List = slices.Clone(e.List)
		all.Forget = slices.Clone(e.Forget)
		all.joined = true
	}

	all.Unlist = append(all.Unlist, n.Unlist...)
	all.List = append(all.List, n.List...)
	all.Forget = append(all.Forget, n.Forget...)
	all.Open = cmp.Or(n.Open, all.Open)
	if n.Names != nil {
		all.Names = n.Names
		all.Instead = n.Instead
	}
	return all, nil
}

// Render implements [changeset.Edit].
func (e *Edit) Render(_ context.Context, dst io.Writer, old io.ReaderAt, size int64) error {
	raw := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(old, 0, size), raw); err != nil {
		return err
	}
	applied, err := e.Apply(raw)
	if err != nil {
		return err
	}
	data := applied.Forgotten
	if bytes.Equal(data, raw) {
		return changeset.ErrUnchanged
	}
	_, err = dst.Write(data)
	return err
}

// Applied is a group file after each part of an [Edit]; each has those before it.
type Applied struct {
	Unlisted  []byte // without the names that leave the list
	Listed    []byte // with names changed, chats listed and another one open
	Forgotten []byte // without the chats' metadata: all of it
}

// Apply returns what becomes of the file.
func (e *Edit) Apply(raw []byte) (all Applied, err error) {
	data := raw
	step := func(edit func(f *File) ([]byte, error)) {
		var f *File
		if err == nil {
			f, err = Parse(e.Path, data)
		}
		if err == nil {
			data, err = edit(f)
		}
	}

	if len(e.Unlist) > 0 {
		step(func(f *File) ([]byte, error) { return f.WithoutChats(e.Unlist...), nil })
	}
	all.Unlisted = data
	list := e.List
	if e.Names != nil {
		step(func(f *File) ([]byte, error) {
			_, keep := e.Names(f.ChatID)
			if keep || e.Instead == "" {
				return f.WithNames(e.Names, ""), nil
			}
			list = append([]string{e.Instead}, list...) // a fresh name is not in its list
			return f.WithNames(e.Names, e.Instead), nil
		})
	}

	step(func(f *File) ([]byte, error) { return f.WithChats(list...) })
	if e.Open != "" {
		step(func(f *File) ([]byte, error) { return f.WithOpen(e.Open), nil })
	}
	all.Listed = data
	if len(e.Forget) > 0 {
		step(func(f *File) ([]byte, error) { return f.WithoutOldMetadata(e.Forget...), nil })
	}
	all.Forgotten = data
	return all, err
}

// WithoutChats returns the file's bytes without names in the list. Metadata that the file holds for them
// stays.
func (f *File) WithoutChats(names ...string) []byte {
	return rawjson.Edit(f.raw, func(o *rawjson.Object) {
		o.EditList(keyChats, func(_ int, value []byte) ([]byte, bool) {
			name, ok := text(value)
			return value, !ok || !slices.Contains(names, name)
		})
	})
}

// WithNames returns the file's bytes with the names of chats as edit returns them: in the
// list, where they keep their place, in chat_id, and as keys of past_metadata. A name that
// edit does not keep leaves the list, its old metadata too. open, unless empty, is the
// chat that is open then, whatever chat_id was; in a file of the old layout chat_metadata becomes
// that chat's. Every other byte stays.
func (f *File) WithNames(edit func(name string) (to string, keep bool), open string) []byte {
	return rawjson.Edit(f.raw, func(o *rawjson.Object) { f.editNames(o, edit, open) })
}

func (f *File) editNames(o *rawjson.Object, edit func(name string) (to string, keep bool), open string) {
	o.EditList(keyChats, func(_ int, value []byte) ([]byte, bool) {
		name, ok := text(value)
		to, keep := edit(name)
		if !ok || to == name {
			return value, keep || !ok
		}
		return rawjson.Quote(to), keep
	})

	past := o.Value(keyPastMetadata)
	for key := range f.past {
		to, keep := edit(key)
		if !keep {
			past = rawjson.DeletePath(past, key)
			continue
		}
		if to != key {
			past = rawjson.RenameKey(past, key, to)
		}
	}

	current, keep := edit(f.ChatID)
	if open == "" && keep {
		open = current
	}
	if open != "" && open != f.ChatID {
		o.Set(keyChatID, rawjson.Quote(open))
	}
	opensAnother := open != "" && open != current
	if opensAnother && f.oldLayout { // as openGroupChat of 1.14 does (group-chats.js)
		if keep && f.current != nil {
			if len(f.past) == 0 {
				past = []byte("{}")
			}
			past, _ = rawjson.SetPath(past, f.current, current)
		}
		if now, ok := f.OldMetadata(open); ok {
			o.Set(keyMetadata, now)
		} else {
			o.Unset(keyMetadata)
		}
	}

	if !bytes.Equal(past, o.Value(keyPastMetadata)) {
		o.Set(keyPastMetadata, past)
	}
}

// WithOpen returns the file's bytes with another chat as the one that is open.
func (f *File) WithOpen(chat string) []byte {
	return f.WithNames(func(name string) (string, bool) { return name, true }, chat)
}

// HasOldLayout reports whether the file holds metadata of chats, as SillyTavern wrote
// it up to 1.14.
func (f *File) HasOldLayout() bool { return f.oldLayout }

// OldMetadata returns the metadata that the file holds for a chat without a header, as
// SillyTavern's migration takes it (src/endpoints/groups.js,
// migrateGroupChatsMetadataFormat): {...past_metadata, [chat_id]: chat_metadata}[chat].
// chat is the file's name; it is looked up under the name that the group lists it by.
// ok is false where there is none or where it is no object; then it counts as {}.
func (f *File) OldMetadata(chat string) (raw []byte, ok bool) {
	for _, key := range f.keysOf(chat) {
		if key == f.ChatID {
			// Also where it is missing: the spread is overwritten by undefined.
			raw, ok = f.current, f.current != nil
		} else {
			raw, ok = f.past[key]
		}
		if ok && rawjson.KindOf(raw) == rawjson.ObjectKind {
			return raw, true
		}
	}
	return nil, false
}

// keptFor returns the names of the chats of which the file holds metadata.
func (f *File) keptFor() (kept []string) {
	names := map[string]bool{f.ChatID: true}
	for name := range f.past {
		names[name] = true
	}
	for safe := range f.typed {
		names[safe] = true
	}
	for name := range names {
		if _, ok := f.OldMetadata(name); ok {
			kept = append(kept, name)
		}
	}
	return kept
}

// WithoutOldMetadata returns the file's bytes without the metadata it holds for the chats,
// for when that has moved into their headers. past_metadata goes with its last entry.
// Without any the bytes are as they were read. A chat may be none of the group's.
func (f *File) WithoutOldMetadata(chats ...string) []byte {
	return rawjson.Edit(f.raw, func(o *rawjson.Object) {
		// A past_metadata that is no object holds nothing, and stays.
		past, err := rawjson.ParseObject(o.Value(keyPastMetadata))
		if err != nil {
			past = rawjson.NewObject()
		}
		for _, chat := range chats {
			for _, key := range f.keysOf(chat) {
				past.Unset(key)
				if key == f.ChatID {
					o.Unset(keyMetadata)
				}
			}
		}

		switch {
		case !past.Edited():
		case past.Len() == 0:
			o.Unset(keyPastMetadata)
		default:
			o.Set(keyPastMetadata, past.Bytes())
		}
	})
}

// keysOf returns the names that the metadata of chat may stand under: its own first, then
// those that the group lists and the server makes into it.
func (f *File) keysOf(chat string) []string {
	return append([]string{chat}, f.typed[chat]...)
}

const (
	beforeBegun = "the new chat "
	behindBegun = " in the group's list"
)

// Begun describes a change that lists a new chat in a group. The chat gets its file only when
// SillyTavern greets in it.
func Begun(chat string) string { return beforeBegun + strconv.Quote(chat) + behindBegun }

// BegunIn returns the chat in a description by [Begun].
func BegunIn(about string) (chat string, ok bool) {
	rest, before := strings.CutPrefix(about, beforeBegun)
	rest, behind := strings.CutSuffix(rest, behindBegun)
	chat, err := strconv.Unquote(rest)
	return chat, before && behind && err == nil
}
