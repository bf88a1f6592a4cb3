// Package group reads SillyTavern's group files, groups/<id>.json, and edits the two
// things in them that concern chats: the list of the group's chats, without which
// SillyTavern cannot open a group chat, and the metadata that versions up to 1.14 kept
// there instead of in the chat.
//
// Edits are splices: they return the file's bytes with the one value changed and every
// other byte kept, white space, key order and repeated keys included. The package
// never writes: [Edit] is what a change set renders.
//
// A group file is a stranger's. A damaged one is an error that names it, and does not
// stop the others. What it lists are names, not paths: they go through userdir.Within
// before they touch the disk.
package group

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"stchat/internal/change/safefile"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/names"
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
	f.ID, _ = text(o.Value(keyID))
	f.Name, _ = rawjson.Unquote(o.Value(keyName))
	var known bool
	f.ChatID, known = text(o.Value(keyChatID))
	if isMissing(o, keyChatID) {
		f.ChatID = f.ID
		known = f.ID != ""
	}
	for element := range rawjson.Elements(o.Value(keyChats)) {
		if name, ok := text(element); ok {
			f.Chats = append(f.Chats, name)
		}
	}

	if isMissing(o, keyChats) && known {
		f.Chats = []string{f.ChatID}
	}
	f.listed = make(map[string]bool, len(f.Chats))
	f.typed = map[string][]string{}
	for _, name := range f.Chats {
		safe := names.OnDisk(name)
		if safe != name && !f.listed[name] {
			f.typed[safe] = append(f.typed[safe], name)
		}
		f.listed[name] = true
		f.listed[safe] = true
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

// isMissing reports whether the key is absent or null: what JavaScript's
// `== undefined` is true for.
func isMissing(o *rawjson.Object, key string) bool {
	raw, ok := o.Get(key)
	return !ok || rawjson.KindOf(raw) == rawjson.Null
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

// WithChats returns the file's bytes with chats appended to its list, each once and only
// those that the group does not list yet; without any, the bytes as they were read.
// chat_id stays, as do all other bytes. New entries are laid out as the list's own are, and
// in an empty list as JSON.stringify would put them at the file's own indentation, which
// is four spaces in SillyTavern's files.
//
// Where chats is missing or null, it is written with what [Load] takes it to list, and
// a missing chat_id with it, since SillyTavern's client discards the list of a group
// that has none. It is an error if chats is anything else but a list.
func (f *File) WithChats(chats ...string) (data []byte, err error) {
	o, err := rawjson.ParseObject(f.raw)
	if err != nil {
		return nil, fmt.Errorf("%s: not a group file: %w", f.Path, err)
	}
	list := o.Value(keyChats)
	hasNoList := isMissing(o, keyChats)
	if kind := rawjson.KindOf(list); !hasNoList && kind != rawjson.Array {
		return nil, fmt.Errorf("%s: %q is %v, not a list; fix the group file first", f.Path, keyChats, kind)
	}

	var fresh [][]byte
	added := make(map[string]bool, len(chats))
	for _, chat := range chats {
		if !f.Lists(chat) && !added[chat] {
			added[chat] = true
			fresh = append(fresh, rawjson.Quote(chat))
		}
	}

	if len(fresh) == 0 {
		return f.raw, nil
	}
	if hasNoList {
		list = []byte("[]")
		for i, chat := range f.Chats {
			fresh = slices.Insert(fresh, i, rawjson.Quote(chat))
		}
		if isMissing(o, keyChatID) && f.ChatID != "" {
			o.Set(keyChatID, rawjson.Quote(f.ChatID))
		}
	}

	o.Set(keyChats, appendAll(list, fresh, indentOf(f.raw)))
	return o.Bytes(), nil
}

// appendAll returns the list with more elements at its end. indent is what stands before
// a member of the object around it.
func appendAll(list []byte, elements [][]byte, indent indentation) []byte {
	inside := list[1 : len(list)-1]
	if rest := bytes.TrimLeft(inside, whiteSpace); len(rest) > 0 {
		// What stands before the first element stands before a new one, if that is a
		// line of its own.
		lead := inside[:len(inside)-len(rest)]
		if !bytes.ContainsRune(lead, '\n') {
			lead = nil
		}
		between := append([]byte{','}, lead...)
		return rawjson.Append(list, bytes.Join(elements, between))
	}

	lead := indent.at(2)
	between := append([]byte{','}, lead...)
	out := append([]byte{'['}, lead...)
	out = append(out, bytes.Join(elements, between)...)
	out = append(out, indent.at(1)...)
	return append(out, ']')
}

const whiteSpace = " \t\r\n"

// indentation is how a file is laid out; the zero one is compact.
type indentation struct{ newline, unit []byte }

// indentOf reads the layout off what stands before the object's first member.
func indentOf(object []byte) indentation {
	inside := bytes.TrimLeft(object, whiteSpace)
	inside = inside[1:] // the brace
	lead := inside[:len(inside)-len(bytes.TrimLeft(inside, whiteSpace))]
	last := bytes.LastIndexByte(lead, '\n')
	if last < 0 {
		return indentation{}
	}
	in := indentation{newline: []byte("\n"), unit: lead[last+1:]}
	if last > 0 && lead[last-1] == '\r' {
		in.newline = []byte("\r\n")
	}
	return in
}

// at returns the line break and the indentation before what lies that deep.
func (in indentation) at(depth int) []byte {
	if in.newline == nil {
		return nil
	}
	return append(bytes.Clone(in.newline), bytes.Repeat(in.unit, depth)...)
}

// Set is what a folder of group files holds.
type Set struct {
	// Files are the groups that could be read, in the order of their files' names.
	Files []*File
	// Bad are the errors of those that could not, in the same order.
	Bad []error

	// By the name of a chat: the groups that list it, have it open, hold metadata of it.
	byChat  map[string][]*File
	open    map[string][]*File
	keeping map[string][]*File
}

// LoadAll reads every *.json in groupsDir. A file that cannot be read goes into
// [Set.Bad] and does not stop the others; a folder that does not exist holds no
// groups. The error is that of reading the folder.
func LoadAll(groupsDir string) (*Set, error) {
	s := &Set{
		byChat:  map[string][]*File{},
		open:    map[string][]*File{},
		keeping: map[string][]*File{},
	}

	entries, err := safefile.ReadDir(groupsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		name := entry.Name()
		isGroup := filepath.Ext(name) == ".json" && name != ".json" && !entry.IsDir()
		if !isGroup {
			continue
		}
		f, err := Load(filepath.Join(groupsDir, name))
		if err != nil {
			s.Bad = append(s.Bad, err)
			continue
		}
		s.add(f)
	}
	return s, nil
}

func (s *Set) add(f *File) {
	s.Files = append(s.Files, f)
	for name := range f.listed {
		s.byChat[name] = append(s.byChat[name], f)
	}
	for _, name := range f.keptFor() {
		s.keeping[name] = append(s.keeping[name], f)
	}
	s.open[f.ChatID] = append(s.open[f.ChatID], f)
	if safe := names.OnDisk(f.ChatID); safe != f.ChatID {
		s.open[safe] = append(s.open[safe], f)
	}
}

// Listing returns the groups that list the chat, see [File.Lists], in the order of
// their files' names. SillyTavern means it to be one at most.
func (s *Set) Listing(chat string) []*File { return s.byChat[chat] }

// Open returns the groups that have the chat open, whether they list it or not.
func (s *Set) Open(chat string) []*File { return s.open[chat] }

// Keeping returns the groups that hold metadata of the chat, see
// [File.OldMetadata], whether they list it or not.
func (s *Set) Keeping(chat string) []*File { return s.keeping[chat] }
