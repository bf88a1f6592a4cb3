package isolate

import (
	"strconv"
	"strings"

	"stchat/internal/lorebook"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// Rebinding says which lorebook gives way to which in a chat's metadata.
type Rebinding struct {
	From  *lorebook.Book // the book that the metadata names
	Clone *lorebook.Book // its clone, as it is (or will be) in its file
	// Snapshot says that the clone is a book of the past, so that an entry it lacks
	// is one that did not exist yet.
	Snapshot bool
}

// Follow points metadata at a lorebook's clone: world_info, Auto-Recap's
// auto_lorebooks.lorebookName, and the timed effects of core, whose keys hold the
// book's name and whose hashes cover it. An effect follows only if the hash that is
// computed for its entry under the old name is the one noted, else it is removed, as
// core would find no entry for it (FORMATS.md B4.3, E3.2). Entries of Auto-Recap's
// index whose uid the clone lacks are removed (B2).
func Follow(metadata *rawjson.Object, b Rebinding) []Change {
	metadata.Set("world_info", rawjson.Quote(b.Clone.Name))
	var changes []Change
	changes = append(changes, b.followBooks(metadata)...)
	timed, ok := objectAt(metadata, "timedWorldInfo")
	if !ok {
		return changes
	}
	moved, lost := 0, 0
	for _, kind := range timedKinds() {
		if effects, ok := objectAt(timed, kind); ok {
			m, l := b.followEffects(effects)
			if moved, lost = moved+m, lost+l; effects.Edited() {
				timed.Set(kind, effects.Bytes())
			}
		}
	}
	if timed.Edited() {
		metadata.Set("timedWorldInfo", timed.Bytes())
	}
	r := &report{extension: "core", changes: changes}
	if moved > 0 {
		r.add("%s moved to the lorebook's clone", plural.S(moved, "timed effect"))
	}
	if lost > 0 {
		r.add("%s removed: the clone has no entry that fits", plural.S(lost, "timed effect"))
	}
	return r.changes
}

// followBooks deals with Auto-Recap's auto_lorebooks.
func (b *Rebinding) followBooks(metadata *rawjson.Object) []Change {
	r := &report{extension: (*autoRecap)(nil).Name()}
	books, ok := objectAt(metadata, keyBooks)
	if !ok {
		return nil
	}
	if raw, ok := books.Get("lorebookName"); ok {
		if old, _ := rawjson.Unquote(raw); old != b.Clone.Name {
			books.Set("lorebookName", rawjson.Quote(b.Clone.Name))
			r.add("lorebookName set to %q", b.Clone.Name)
		}
	}
	if registry, ok := objectAt(books, "registry"); ok {
		if index, ok := objectAt(registry, "index"); ok {
			total, there, were := index.Len(), b.Clone.UIDs(), b.From.UIDs()
			for _, key := range keysOf(index) {
				raw, _ := index.Get(key)
				if uid := indexUID(key, raw); !there[uid] && (b.Snapshot || were[uid]) {
					index.Unset(key)
				}
			}
			if index.Edited() {
				registry.Set("index", index.Bytes())
				books.Set("registry", registry.Bytes())
				r.add("%d of %s in the registry's index kept", index.Len(), plural.Of(total, "entry", "entries"))
			}
		}
	}
	if books.Edited() {
		metadata.Set(keyBooks, books.Bytes())
	}
	return r.changes
}

// indexUID is the uid of an entry of the registry's index, which is also its key.
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

// followEffects gives the effects of one kind their new keys and hashes.
func (b *Rebinding) followEffects(effects *rawjson.Object) (moved, lost int) {
	entries := map[string]*lorebook.Entry{}
	for i := range b.Clone.Entries {
		if e := &b.Clone.Entries[i]; e.UID != "" {
			entries[e.UID] = e
		}
	}
	for _, key := range keysOf(effects) {
		uid, ok := strings.CutPrefix(key, b.From.Name+".")
		entry := entries[uid]
		if !ok || entry == nil && strings.Trim(uid, "0123456789") != "" {
			continue // of another book
		}
		raw, _ := effects.Get(key)
		if entry != nil {
			if _, own := rawjson.Lookup(entry.Raw, "world"); own {
				continue // the entry names its book itself, so nothing changes for it
			}
			noted, _ := rawjson.Lookup(raw, "hash")
			was, ok := lorebook.EntryHash(entry.Raw, b.From.Name)
			if f, isNumber := rawjson.Float(noted); ok && isNumber && f == float64(was) {
				is, _ := lorebook.EntryHash(entry.Raw, b.Clone.Name)
				if edited, err := rawjson.SetPath(raw, strconv.AppendInt(nil, is, 10), "hash"); err == nil {
					effects.Unset(key)
					effects.Set(b.Clone.Name+"."+uid, edited)
					moved++
					continue
				}
			}
		}
		effects.Unset(key)
		lost++
	}
	return moved, lost
}
