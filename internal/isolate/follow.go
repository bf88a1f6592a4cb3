package isolate

import (
	"strconv"
	"strings"

	"stchat/internal/autorecap"
	"stchat/internal/lorebook"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// Rebinding says which lorebook replaces which in a chat's metadata.
type Rebinding struct {
	From  *lorebook.Book // the book that the metadata names
	Clone *lorebook.Book // its clone, as it is (or will be) in its file
	// Snapshot means that the clone is an earlier state of the book, so that an entry it
	// lacks did not exist yet.
	Snapshot bool
}

// Follow points metadata at a lorebook's clone, and returns what it changed. It edits
// world_info, Auto-Recap's auto_lorebooks.lorebookName, and core's timed effects, whose
// keys contain the book's name and whose hashes cover it. An effect follows only if the
// hash of its entry under the old name is the one noted; else it is removed, since core
// would find no entry for it (FORMATS.md B4.3, E3.2). Entries of Auto-Recap's index that
// the clone lost are removed (B2).
func Follow(metadata *rawjson.Object, b Rebinding) []Change {
	metadata.Set("world_info", rawjson.Quote(b.Clone.Name))
	r := &report{extension: "core", changes: b.followBooks(metadata)}
	moved, lost := 0, 0
	metadata.Edit(func(timed *rawjson.Object) {
		for _, kind := range timedKinds() {
			timed.Edit(func(effects *rawjson.Object) {
				m, l := b.followEffects(effects)
				moved, lost = moved+m, lost+l
			}, kind)
		}
	}, "timedWorldInfo")
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
	there, were := b.Clone.UIDs(), b.From.UIDs()
	followed := autorecap.FollowBook(metadata, b.Clone.Name, func(uid string) bool {
		return !there[uid] && (b.Snapshot || were[uid])
	})
	r := &report{extension: (*autoRecap)(nil).Name()}
	if followed.Renamed {
		r.add("lorebookName set to %q", b.Clone.Name)
	}
	if followed.Kept < followed.Total {
		r.add("%d of %s in the registry's index kept", followed.Kept, plural.Of(followed.Total, "entry", "entries"))
	}
	return r.changes
}

// followEffects sets the keys and hashes of the effects of one kind to the clone's. It
// returns how many follow and how many are removed.
func (b *Rebinding) followEffects(effects *rawjson.Object) (moved, lost int) {
	entries := map[string]*lorebook.Entry{}
	for i := range b.Clone.Entries {
		if e := &b.Clone.Entries[i]; e.UID != "" {
			entries[e.UID] = e
		}
	}
	for _, key := range effects.Keys() {
		uid, ok := strings.CutPrefix(key, b.From.Name+".")
		entry := entries[uid]
		if !ok || entry == nil && strings.Trim(uid, "0123456789") != "" {
			continue // of another book
		}
		raw := effects.Value(key)
		if entry != nil {
			if _, own := rawjson.Lookup(entry.Raw, "world"); own {
				continue // the entry names its book itself, so nothing changes for it
			}
			noted := rawjson.Value(raw, "hash")
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
