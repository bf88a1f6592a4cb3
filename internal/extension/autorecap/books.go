package autorecap

import (
	"strconv"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/text/plural"
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
				refs = append(refs, Reference{Comment: e.Comment, UID: uid, Found: uids[uid] != nil})
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

// BookName returns auto_lorebooks.lorebookName, the lorebook to which Auto-Recap writes,
// "" if none is noted.
func BookName(metadata *rawjson.Object) string {
	name, _ := rawjson.Unquote(rawjson.Value(metadata.Value(keyBooks), "lorebookName"))
	return name
}

// Rename makes a lorebook that is the chat's own that of auto_lorebooks, too, and removes from
// its index the entries that a clone lacks.
func (e *Extension) Rename(r *extension.Renaming) {
	if !r.Own {
		return
	}
	there, were := r.To.UIDs(), r.From.UIDs()
	r.Metadata.Edit(func(books *rawjson.Object) {
		if raw, ok := books.Get("lorebookName"); ok {
			if old, _ := rawjson.Unquote(raw); old != r.To.Name {
				books.Set("lorebookName", rawjson.Quote(r.To.Name))
				r.AddInternal(e, "lorebookName set to %q", r.To.Name)
			}
		}

		books.Edit(func(index *rawjson.Object) {
			total := index.Len()
			for _, key := range index.Keys() {
				if uid := indexUID(key, index.Value(key)); there[uid] == nil && (r.Snapshot || were[uid] != nil) {
					index.Unset(key)
				}
			}
			if index.Len() < total {
				r.Add(e, "%d of %s in the registry's index kept", index.Len(), plural.Of(total, "entry", "entries"))
			}
		}, "registry", "index")
	}, keyBooks)
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
