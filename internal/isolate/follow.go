package isolate

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/extension/autorecap"
	"stchat/internal/lorebook"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// Rebinding says which lorebook replaces which in a chat's metadata.
type Rebinding struct {
	From  *lorebook.Book // the book that the metadata names
	Clone *lorebook.Book // its clone, as it is (or will be) in its file
	Plain *lorebook.Book // the clone with the names in its entries as they were; nil: they are the same
	// Snapshot means that the clone is an earlier state of the book, so that an entry it
	// lacks did not exist yet.
	Snapshot bool
}

// Follow points metadata at a lorebook's clone, and returns what it changed: all keys that
// name the book, Auto-Recap's auto_lorebooks with the chat's own book, and core's timed
// effects. Metadata that does not name the book gets the clone as the chat's own. Entries of
// Auto-Recap's index that the clone lost are removed (FORMATS.md B2).
func Follow(metadata *rawjson.Object, b Rebinding) []Change {
	world, _ := lorebook.NameIn(metadata)
	var changes []Change
	if named := extension.Books(metadata); world == b.From.Name || !slices.Contains(named, b.From.Name) {
		metadata.Set("world_info", rawjson.Quote(b.Clone.Name))
		changes = b.followBooks(metadata)
	} else if autorecap.BookName(metadata) == b.From.Name {
		changes = b.followBooks(metadata)
	}
	var reports []*report
	extension.Rename(metadata, extension.Metadata, extension.Book, func(k extension.NameKey, name string) string {
		if k.Past || name != b.From.Name {
			return name
		}
		r := &report{extension: k.Extension}
		r.add("%s set to %q", strings.Join(k.Path[1:], "/"), b.Clone.Name)
		reports = append(reports, r)
		return b.Clone.Name
	})
	for _, r := range reports {
		changes = append(changes, r.changes...)
	}
	moved, lost := FollowEffects(metadata, b.From.Name, cmp.Or(b.Plain, b.Clone), b.Clone)
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

// FollowEffects moves core's timed effects from a lorebook to its clone, or to the book under
// its new name. Their keys contain the book's name, and their hashes cover it and the whole
// entry. An effect follows only if the hash of its entry, as it was before names in it
// changed, under the book's old name is the one noted; else it is removed, since core would
// find no entry for it (FORMATS.md B4.3, E3.2).
func FollowEffects(metadata *rawjson.Object, from string, before, after *lorebook.Book) (moved, lost int) {
	was, is := entriesByUID(before), entriesByUID(after)
	metadata.Edit(func(timed *rawjson.Object) {
		for _, kind := range timedKinds() {
			timed.Edit(func(effects *rawjson.Object) {
				for _, key := range effects.Keys() {
					uid, ok := strings.CutPrefix(key, from+".")
					entry := is[uid]
					if !ok || entry == nil && strings.Trim(uid, "0123456789") != "" {
						continue // of another book
					}
					raw := effects.Value(key)
					edited, follows := followEffect(raw, was[uid], entry, from, after.Name)
					switch {
					case !follows:
						effects.Unset(key)
						lost++
					case !bytes.Equal(edited, raw):
						effects.Unset(key)
						effects.Set(after.Name+"."+uid, edited)
						moved++
					}
				}
			}, kind)
		}
	}, "timedWorldInfo")
	return moved, lost
}

func entriesByUID(b *lorebook.Book) map[string][]byte {
	entries := map[string][]byte{}
	for i := range b.Entries {
		if e := &b.Entries[i]; e.UID != "" {
			entries[e.UID] = e.Raw
		}
	}
	return entries
}

// followEffect returns an effect with the hash of its entry as it is now. An entry that names
// its book itself has the same hash in all books.
func followEffect(effect, was, is []byte, from, to string) (edited []byte, ok bool) {
	if is == nil {
		return nil, false
	}
	if _, own := rawjson.Lookup(is, "world"); own {
		return effect, true
	}
	noted, isNumber := rawjson.Float(rawjson.Value(effect, "hash"))
	old, hashed := lorebook.EntryHash(was, from)
	if !hashed || !isNumber || noted != float64(old) {
		return nil, false
	}
	hash, _ := lorebook.EntryHash(is, to)
	edited, err := rawjson.SetPath(effect, strconv.AppendInt(nil, hash, 10), "hash")
	return edited, err == nil
}
