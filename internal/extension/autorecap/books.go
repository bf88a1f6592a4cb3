package autorecap

import (
	"strconv"
	"strings"

	"stchat/internal/lorebook"
	"stchat/internal/rawjson"
)

// Reference is a uid that a registry entry names.
type Reference struct {
	Comment string // the registry entry's comment
	UID     string // the uid it names
	Found   bool   // the book has an entry with that uid
}

// References returns the uids that a book's registries name, in the order of the file. It reads
// both forms: "- UID=3 | name: X" and the older "- uid: 3 | X".
func References(b *lorebook.Book) []Reference {
	var refs []Reference
	uids := b.UIDs()
	for i := range b.Entries {
		e := &b.Entries[i]
		if e.Kind() != lorebook.Registry {
			continue
		}
		content, _ := rawjson.Unquote(rawjson.Value(e.Raw, "content"))
		for text := range strings.SplitSeq(content, "\n") {
			if uid, ok := referenceIn(text); ok {
				refs = append(refs, Reference{Comment: e.Comment, UID: uid, Found: uids[uid]})
			}
		}
	}
	return refs
}

// referenceIn returns the uid that a line of a registry names.
func referenceIn(line string) (uid string, ok bool) {
	line, ok = strings.CutPrefix(strings.TrimSpace(line), "-")
	if !ok {
		return "", false
	}
	line, _, _ = strings.Cut(strings.TrimSpace(line), "|")
	const mark = "uid"
	if len(line) <= len(mark) || !strings.EqualFold(line[:len(mark)], mark) {
		return "", false
	}
	rest := strings.TrimSpace(line[len(mark):])
	if rest == "" || rest[0] != '=' && rest[0] != ':' {
		return "", false
	}
	uid = strings.TrimSpace(rest[1:])
	return uid, uid != ""
}

// Keys in chat_metadata.
const (
	KeyRunning    = "auto_recap_running_scene_recaps"
	keyPending    = "autoLorebooks"
	keyBooks      = "auto_lorebooks"
	keyDocumented = "auto_recap" // in its documents only; no code writes it
	keyProcessed  = "auto_lorebooks_processed_recaps"
	keyCheckpoint = "auto_recap_checkpoint_state"
)

// Keys returns the keys of chat_metadata that belong to Auto-Recap.
func Keys() []string {
	return []string{KeyRunning, keyPending, keyBooks, keyDocumented, keyProcessed, keyCheckpoint}
}

// UnknownAtEarlier returns the keys whose value at an earlier message cannot be known.
func UnknownAtEarlier() []string { return []string{keyProcessed, keyCheckpoint} }

// BookName returns auto_lorebooks.lorebookName, the lorebook to which Auto-Recap writes,
// "" if none is noted.
func BookName(metadata *rawjson.Object) string {
	name, _ := rawjson.Unquote(rawjson.Value(metadata.Value(keyBooks), "lorebookName"))
	return name
}

// Followed says what [FollowBook] changed.
type Followed struct {
	Renamed     bool
	Kept, Total int // entries of the registry's index; equal if none went
}

// FollowBook points auto_lorebooks at the lorebook called name and removes the entries of its
// index for whose uid gone returns true.
func FollowBook(metadata *rawjson.Object, name string, gone func(uid string) bool) (f Followed) {
	metadata.Edit(func(books *rawjson.Object) {
		if raw, ok := books.Get("lorebookName"); ok {
			if old, _ := rawjson.Unquote(raw); old != name {
				books.Set("lorebookName", rawjson.Quote(name))
				f.Renamed = true
			}
		}
		books.Edit(func(index *rawjson.Object) {
			f.Total = index.Len()
			for _, key := range index.Keys() {
				if gone(indexUID(key, index.Value(key))) {
					index.Unset(key)
				}
			}
			f.Kept = index.Len()
		}, "registry", "index")
	}, keyBooks)
	return f
}

// indexUID returns the uid of an entry of the registry's index. It should equal the key,
// which counts if the entry has no uid.
func indexUID(key string, raw []byte) string {
	if uid, ok := rawjson.Lookup(raw, "uid"); ok {
		if n, ok := rawjson.Float(uid); ok && n >= 0 && n <= 1<<53 && n == float64(int64(n)) {
			return strconv.FormatInt(int64(n), 10)
		}
		if s, ok := rawjson.Unquote(uid); ok {
			return s
		}
	}
	return key
}
