package autorecap

import (
	"iter"

	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl/rawjson"
)

const keyCurrent = "current_version"

// Running is the raw store of the running recap in chat_metadata.
type Running []byte

// RunningIn returns the running recap of a chat; ok is false if the metadata has none
// that is an object.
func RunningIn(metadata *rawjson.Object) (r Running, ok bool) {
	r = metadata.Value(KeyRunning)
	return r, rawjson.KindOf(r) == rawjson.ObjectKind
}

// ChatID returns the name of the recap's chat, and whether one is noted.
func (r Running) ChatID() (string, bool) { return rawjson.Unquote(rawjson.Value(r, "chat_id")) }

// Current returns the raw value of current_version, nil if it is missing.
func (r Running) Current() []byte { return rawjson.Value(r, keyCurrent) }

// Versions iterates over the versions, in the store's order.
func (r Running) Versions() iter.Seq[Version] {
	return func(yield func(Version) bool) {
		for raw := range rawjson.Elements(rawjson.Value(r, "versions")) {
			if !yield(raw) {
				return
			}
		}
	}
}

// Version is one raw version of the running recap.
type Version []byte

// Number returns the version's number.
func (v Version) Number() (float64, bool) { return rawjson.Float(v.Value("version")) }

// Value returns the raw value of a key, nil if it is missing.
func (v Version) Value(key string) []byte { return rawjson.Value(v, key) }

// Scene returns the raw index of the message that ends the scene at which the version was made,
// 0 if none is noted.
func (v Version) Scene() []byte {
	raw := v.Value("new_scene_index")
	if kind := rawjson.KindOf(raw); kind == rawjson.Invalid || kind == rawjson.Null {
		return []byte("0")
	}
	return raw
}

// Pruned says what [PruneRunning] did to the versions.
type Pruned struct {
	Kept, Total int
	Was, Now    string // current_version before and after; both are empty if it stays
}

// PruneRunning removes the versions that keep rejects. If the current one is no longer there,
// the highest that is left becomes current, or 0 if none is.
func PruneRunning(metadata *rawjson.Object, keep func(Version) bool) (p Pruned) {
	metadata.Edit(func(store *rawjson.Object) {
		versions := store.Value("versions")
		if rawjson.KindOf(versions) != rawjson.Array {
			return
		}
		raw, hasCurrent := store.Get(keyCurrent)
		current, isNumber := rawjson.Float(raw)
		top, currentKept := 0.0, false
		pruned := rawjson.Filter(versions, func(_ int, raw []byte) bool {
			p.Total++
			if !keep(raw) {
				return false
			}
			p.Kept++
			if number, ok := Version(raw).Number(); ok {
				top = max(top, number)
				currentKept = currentKept || isNumber && number == current
			}
			return true
		})

		if p.Kept < p.Total {
			store.Set("versions", pruned)
		}
		if !currentKept && (current != top || hasCurrent && !isNumber) {
			p.Now = jsvalue.FormatNumber(top)
			store.Set(keyCurrent, []byte(p.Now))
			p.Was = "nothing"
			if hasCurrent {
				p.Was = string(rawjson.Compact(raw))
			}
		}
	}, KeyRunning)
	return p
}

// editVersions edits each version of the running recap.
func editVersions(metadata *rawjson.Object, edit func(version *rawjson.Object)) {
	metadata.Edit(func(store *rawjson.Object) {
		store.EditList("versions", func(_ int, raw []byte) ([]byte, bool) { return rawjson.Edit(raw, edit), true })
	}, KeyRunning)
}

// SetRunningChat makes the running recap belong to the chat called name, and reports whether
// that changed anything. In a chat without a parent Auto-Recap erases a recap of another chat.
func SetRunningChat(metadata *rawjson.Object, name string) (changed bool) {
	return own(metadata, name, KeyRunning)
}

// own sets chat_id of the object at a path, and reports whether that changed it.
func own(metadata *rawjson.Object, name string, path ...string) (changed bool) {
	metadata.Edit(func(store *rawjson.Object) {
		if old, ok := rawjson.Unquote(store.Value("chat_id")); !ok || old != name {
			store.Set("chat_id", rawjson.Quote(name))
			changed = true
		}
	}, path...)
	return changed
}

// SetChat makes everything that Auto-Recap keeps in a chat's metadata belong to the chat called
// name: the running recap, the combined one, and the state of a checkpoint.
func SetChat(metadata *rawjson.Object, name string) {
	SetRunningChat(metadata, name)
	own(metadata, name, keyDocumented, keyCombined)
	if _, ok := rawjson.Lookup(metadata.Value(keyCheckpoint), "chat_id"); ok {
		own(metadata, name, keyCheckpoint)
	}
}
