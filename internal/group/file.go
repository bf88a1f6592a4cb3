package group

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strconv"

	"stchat/internal/jsonl"
	"stchat/internal/names"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// The keys of a group file that this package knows.
const (
	keyID           = "id"
	keyName         = "name"
	keyChatID       = "chat_id"
	keyChats        = "chats"
	keyMetadata     = "chat_metadata" // up to 1.14: that of the chat in chat_id
	keyPastMetadata = "past_metadata" // up to 1.14: that of the other chats, by name
)

// File is a group file as it was read.
type File struct {
	Path string
	ID   string // empty where the file has none
	Name string // the group's name; a stranger's text
	// ChatID is the name of the chat that is open in the group.
	ChatID string
	// Chats are the names of the group's chats as they are listed, which is as they
	// were typed: SillyTavern's server makes them safe only on their way to the disk.
	// Compare with [File.Lists].
	Chats []string

	// All below is built once by parse and only read afterwards, so that sources of one
	// group can be worked on side by side.
	raw       []byte
	listed    map[string]bool     // the listed names, each as it stands and made safe
	typed     map[string][]string // for a safe name, the listed ones that differ from it
	past      map[string][]byte   // past_metadata
	current   []byte              // chat_metadata
	oldLayout bool                // it has one of them
}

// Load reads the group file at path. Every error names it; one for damage is a
// [*jsonl.LineError] with line and column.
//
// In the oldest files, which have neither chat_id nor chats, the group's only chat is
// called after its id, as SillyTavern's client takes it (group-chats.js, getGroups). So
// a missing or null chat_id is the id, and missing or null chats list what chat_id
// names. A chats that is something else than a list lists nothing, and entries that are
// neither strings nor numbers are passed over.
func Load(path string) (*File, error) {
	raw, _, err := safefile.Read(path)
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("%s: %w", path, pathErr.Err)
	}
	if err != nil {
		return nil, err
	}
	return Parse(path, raw)
}

// Parse reads raw as the content of the group file at path; see [Load].
func Parse(path string, raw []byte) (*File, error) {
	if damage := jsonl.Check(raw); damage != nil {
		return nil, &jsonl.LineError{Path: path, Damage: *damage}
	}
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: not a group file: %w", path, err)
	}
	f := &File{Path: path, raw: raw}
	f.ID, _ = textOf(o, keyID)
	if name, ok := o.Get(keyName); ok {
		f.Name, _ = rawjson.Unquote(name)
	}
	var known bool
	if f.ChatID, known = textOf(o, keyChatID); isMissing(o, keyChatID) {
		f.ChatID, known = f.ID, f.ID != ""
	}
	for element := range rawjson.Elements(o.Value(keyChats)) {
		if name, ok := text(element); ok {
			f.Chats = append(f.Chats, name)
		}
	}
	if isMissing(o, keyChats) && known {
		f.Chats = []string{f.ChatID}
	}
	f.listed, f.typed = make(map[string]bool, len(f.Chats)), map[string][]string{}
	for _, name := range f.Chats {
		safe := safeName(name)
		if safe != name && !f.listed[name] {
			f.typed[safe] = append(f.typed[safe], name)
		}
		f.listed[name], f.listed[safe] = true, true
	}
	f.current, f.oldLayout = o.Get(keyMetadata)
	if raw, ok := o.Get(keyPastMetadata); ok {
		f.oldLayout = true
		if past, err := rawjson.ParseObject(raw); err == nil {
			f.past = maps.Collect(past.All())
		}
	}
	return f, nil
}

// Lists reports whether the group lists the chat: by its name, or by one that
// SillyTavern's server makes into it ("a:b" lists ab.jsonl).
func (f *File) Lists(chat string) bool { return f.listed[chat] }

// Raw returns the file's bytes as they were read. They must not be changed.
func (f *File) Raw() []byte { return f.raw }

// safeName is the name of the file that a listed name leads to; a name that leads
// nowhere stays as it is.
func safeName(name string) string {
	if safe, err := names.Sanitize(name); err == nil {
		return safe
	}
	return name
}

// isMissing reports whether the key is absent or null: what JavaScript's
// `== undefined` is true for.
func isMissing(o *rawjson.Object, key string) bool {
	raw, ok := o.Get(key)
	return !ok || rawjson.KindOf(raw) == rawjson.Null
}

// textOf is [text] of a member's value.
func textOf(o *rawjson.Object, key string) (string, bool) {
	raw, ok := o.Get(key)
	if !ok {
		return "", false
	}
	return text(raw)
}

// text returns a string, or a number as JavaScript puts it into a file's name: the ids
// of old groups, and the chats named after them, are numbers.
func text(raw []byte) (string, bool) {
	switch rawjson.KindOf(raw) {
	case rawjson.String:
		return rawjson.Unquote(raw)
	case rawjson.Number:
		n, ok := rawjson.Float(raw)
		return strconv.FormatFloat(n, 'f', -1, 64), ok
	}
	return "", false
}
