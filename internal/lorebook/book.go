// Package lorebook reads SillyTavern's lorebooks, the files of a user's worlds
// folder, and makes copies of them that a branch of a chat can call its own.
//
// A chat names its lorebook in chat_metadata.world_info, and SillyTavern copies
// only that name into every checkpoint and branch: all of them write to one book.
// Extensions make it worse: Auto-Recap keeps its work queue and its registries as
// entries of the book. So a clone gets a name of its own, may leave
// those entries out or empty the queue, and otherwise keeps every entry's bytes, uid
// and place.
//
// Names of lorebooks come from strangers' chats. [Find] turns one into a path and
// never leaves the worlds folder. Nothing in this package writes: a clone is bytes
// that the caller puts in place.
package lorebook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"stchat/internal/change/safefile"
	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
)

// Extension is the end of a lorebook's file name.
const Extension = ".json"

// MaxBytes is the greatest length of a new lorebook's name, in bytes without [Extension].
const MaxBytes = names.MaxFile - len(Extension)

// Book is a lorebook as it was read.
type Book struct {
	Path      string
	Stamp     safefile.Stamp // of the file that [Open] read
	Name      string         // the file's name without [Extension]: what chats call it
	InnerName string         // the name inside the file
	HasInner  bool           // the file has a name that is text
	Entries   []Entry        // in the file's order, a repeated key once
	Raw       []byte

	entries []byte // the raw value of "entries"
}

// Entry is one entry of a lorebook.
type Entry struct {
	Key     string // its key in entries, or its index if entries is a list
	UID     string // uid as JavaScript prints it, as it appears in keys of timedWorldInfo and in registries; "" if there is none
	Comment string // the title that users see; "" if it is not a string
	Raw     []byte
}

// ErrMissing means that a lorebook does not exist.
var ErrMissing = errors.New("the lorebook does not exist")

// NotReadableError says that a file is not a lorebook that SillyTavern could read.
type NotReadableError struct {
	Path string
	Err  error // a *jsonl.Damage with the place, or another reason
}

func (e *NotReadableError) Error() string {
	if damage, ok := errors.AsType[*jsonl.Damage](e.Err); ok {
		return e.Path + ":" + damage.Error() + "; this lorebook cannot be read"
	}
	return fmt.Sprintf("%s: this lorebook cannot be read: %v", e.Path, e.Err)
}

// Unwrap returns the reason.
func (e *NotReadableError) Unwrap() error { return e.Err }

// NameIn returns the name of the lorebook in a chat's metadata (METADATA_KEY of
// world-info.js). ok is false if there is none.
func NameIn(metadata *rawjson.Object) (name string, ok bool) {
	name, ok = rawjson.Unquote(metadata.Value("world_info"))
	return name, ok && name != ""
}

// Find returns the path of the lorebook that a chat calls name, or else of the one
// whose name is the sanitized form that SillyTavern's server uses (readWorldInfoFile,
// src/endpoints/worldinfo.js). The name is a stranger's: if it cannot be a file's name
// and there is no such book, the error is a [*userdir.UnsafeNameError]. If the book does
// not exist, the error wraps [ErrMissing].
func Find(worldsDir, name string) (path string, err error) {
	path, err = find(worldsDir, name)
	_, unsafe := errors.AsType[*userdir.UnsafeNameError](err)
	if !unsafe && !errors.Is(err, ErrMissing) {
		return path, err
	}
	if safe, e := names.Sanitize(name); e == nil && safe != name {
		if found, e := find(worldsDir, safe); e == nil {
			return found, nil
		}
	}
	return path, err
}

func find(worldsDir, name string) (path string, err error) {
	path, err = userdir.Within(worldsDir, name, Extension)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, fmt.Errorf("%s: %w", path, ErrMissing)
	case err != nil:
		return path, err
	case !info.Mode().IsRegular():
		return path, &NotReadableError{Path: path, Err: errors.New("it is not a regular file")}
	}
	return path, nil
}

// Open reads the lorebook at path. The error wraps [ErrMissing] if it does not exist, is a
// [*NotReadableError] if it is not a lorebook, or else is that of reading the file.
func Open(path string) (*Book, error) {
	raw, stamp, err := safefile.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, ErrMissing)
	case errors.Is(err, safefile.ErrNotRegular):
		return nil, &NotReadableError{Path: path, Err: errors.New("it is not a regular file")}
	case err != nil:
		return nil, err
	}

	b, err := Parse(raw, path)
	if err != nil {
		return nil, err
	}
	b.Stamp = stamp
	return b, nil
}

// Parse parses raw as the content of the lorebook at path. The book aliases raw. Like
// SillyTavern's readers it accepts entries as an object keyed by uid or as a list. The
// error is a [*NotReadableError].
func Parse(raw []byte, path string) (*Book, error) {
	bad := func(err error) error { return &NotReadableError{Path: path, Err: err} }
	if damage := jsonl.Check(raw); damage != nil {
		return nil, bad(damage)
	}
	object, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, bad(err)
	}
	b := &Book{Path: path, Name: strings.TrimSuffix(filepath.Base(path), Extension), Raw: raw}
	if inner, ok := object.Get("name"); ok {
		b.InnerName, b.HasInner = rawjson.Unquote(inner)
	}
	b.entries = object.Value("entries")
	switch kind := rawjson.KindOf(b.entries); kind {
	case rawjson.ObjectKind:
		entries, err := rawjson.ParseObject(b.entries)
		if err != nil {
			return nil, bad(err)
		}
		for key, value := range entries.All() {
			b.Entries = append(b.Entries, newEntry(key, value))
		}
	case rawjson.Array:
		for value := range rawjson.Elements(b.entries) {
			b.Entries = append(b.Entries, newEntry(fmt.Sprint(len(b.Entries)), value))
		}
	default:
		return nil, bad(fmt.Errorf("its entries are %s, not an object", kind))
	}
	return b, nil
}

func newEntry(key string, raw []byte) Entry {
	e := Entry{Key: key, Raw: raw}
	var uid, comment []byte
	rawjson.Into(raw, []string{"uid", "comment"}, &uid, &comment)
	e.Comment, _ = rawjson.Unquote(comment)
	e.UID, _ = rawjson.Unquote(uid)
	if f, ok := rawjson.Float(uid); ok {
		e.UID = jsvalue.FormatNumber(f)
	}
	return e
}

// UIDs returns the raw entries by their uids.
func (b *Book) UIDs() map[string][]byte {
	uids := make(map[string][]byte, len(b.Entries))
	for i := range b.Entries {
		if uid := b.Entries[i].UID; uid != "" {
			uids[uid] = b.Entries[i].Raw
		}
	}
	return uids
}

// pretty reports whether the file has one member per line, as SillyTavern writes it.
func (b *Book) pretty() bool {
	raw := bytes.TrimLeft(b.Raw, " \t\r\n")
	return len(raw) > 1 && (raw[1] == '\n' || raw[1] == '\r')
}

// StringHash is SillyTavern's getStringHash with seed 0: cyrb53 over the UTF-16
// units of s (public/scripts/utils.js).
func StringHash(s string) int64 {
	h1, h2 := uint32(0xdeadbeef), uint32(0x41c6ce57)
	for _, unit := range utf16.Encode([]rune(s)) {
		h1 = (h1 ^ uint32(unit)) * 2654435761
		h2 = (h2 ^ uint32(unit)) * 1597334677
	}
	h1 = (h1^h1>>16)*2246822507 ^ (h2^h2>>13)*3266489909
	h2 = (h2^h2>>16)*2246822507 ^ (h1^h1>>13)*3266489909
	return int64(h2&2097151)<<32 + int64(h1)
}

// EntryHash returns the hash by which core recognizes the entry of a timed effect
// (getSortedEntries and getChatLore in public/scripts/world-info.js):
// that of JSON.stringify({uid, world, ...the entry, decorators}), where world is
// the book's name unless the entry has a world of its own, and content is without its
// decorator lines. ok is false if core could not hash the entry.
func EntryHash(entry []byte, book string) (hash int64, ok bool) {
	v, _ := jsvalue.Parse(entry)
	o, ok := v.(*jsvalue.Object)
	if !ok {
		return 0, false
	}
	hashed := jsvalue.NewObject()
	if uid, ok := o.Get("uid"); ok {
		hashed.Set("uid", uid)
	}
	hashed.Set("world", book)
	for _, key := range o.Keys() {
		if key != "uid" {
			value, _ := o.Get(key)
			hashed.Set(key, value)
		}
	}

	decorators, content := &jsvalue.Array{}, ""
	switch raw, _ := o.Get("content"); raw {
	case nil, false, 0.0: // content || ''
	default:
		text, ok := raw.(string)
		if !ok {
			return 0, false // core's parseDecorators throws on it
		}
		decorators.Items, content = parseDecorators(text)
	}

	hashed.Set("decorators", decorators)
	hashed.Set("content", content)
	return StringHash(string(jsvalue.Stringify(hashed))), true
}

// parseDecorators is the function of that name in world-info.js. Lines that begin with
// @@ at the head of an entry's content are instructions, of which core knows two; @@@
// marks a fallback, which counts only after a line that core does not know.
func parseDecorators(content string) (decorators []jsvalue.Value, rest string) {
	if !strings.HasPrefix(content, "@@") {
		return nil, content
	}
	unknown, at := false, 0
	for line := range strings.SplitSeq(content, "\n") {
		next := at + len(line) + 1
		switch fallback := strings.HasPrefix(line, "@@@"); {
		case !strings.HasPrefix(line, "@@"):
			return decorators, content[at:]
		case fallback && !unknown:
		default:
			if fallback {
				line = line[1:]
			}
			unknown = !strings.HasPrefix(line, "@@activate") && !strings.HasPrefix(line, "@@dont_activate")
			if !unknown {
				decorators = append(decorators, line)
			}
		}

		at = next
	}
	return decorators, content // nothing but decorators: core leaves the text
}
