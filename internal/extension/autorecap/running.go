package autorecap

import (
	"errors"
	"iter"
	"math"
	"strconv"

	"stchat/internal/jsvalue"
	"stchat/internal/rawjson"
)

// Running is the store of the running recap in chat_metadata.
type Running struct{ raw []byte }

// RunningIn returns the running recap of a chat; ok is false if the metadata has none
// that is an object.
func RunningIn(metadata *rawjson.Object) (r Running, ok bool) {
	return ReadRunning(metadata.Value(KeyRunning))
}

// ReadRunning returns the running recap in raw, the value of [KeyRunning]; ok is false
// if that is not an object.
func ReadRunning(raw []byte) (r Running, ok bool) {
	return Running{raw}, rawjson.KindOf(raw) == rawjson.ObjectKind
}

// ChatID returns the name of the recap's chat, and whether one is noted.
func (r Running) ChatID() (string, bool) {
	return rawjson.Unquote(rawjson.Value(r.raw, "chat_id"))
}

// Current returns the raw value of current_version, nil if it is missing.
func (r Running) Current() []byte {
	return rawjson.Value(r.raw, "current_version")
}

// Versions iterates over the versions, in the store's order.
func (r Running) Versions() iter.Seq[Version] {
	list := rawjson.Value(r.raw, "versions")
	return func(yield func(Version) bool) {
		for raw := range rawjson.Elements(list) {
			if !yield(Version{raw}) {
				return
			}
		}
	}
}

// Version is one version of the running recap.
type Version struct{ raw []byte }

// Number returns the version's number.
func (v Version) Number() (float64, bool) { return rawjson.Float(v.NumberText()) }

// NumberText returns the raw value of the version's number, nil if it is missing.
func (v Version) NumberText() []byte {
	return rawjson.Value(v.raw, "version")
}

// Scene returns the index of the message that ends the scene at which the version was made,
// 0 if none is noted; ok is false if what is noted is not an index.
func (v Version) Scene() (index int, ok bool) {
	raw, ok := rawjson.Lookup(v.raw, "new_scene_index")
	if !ok || rawjson.KindOf(raw) == rawjson.Null {
		return 0, true
	}
	return rawjson.Int(raw)
}

// SceneNumber is [Version.Scene], but accepts any number.
func (v Version) SceneNumber() (index float64, ok bool) {
	raw, ok := rawjson.Lookup(v.raw, "new_scene_index")
	if !ok || rawjson.KindOf(raw) == rawjson.Null {
		return 0, true
	}
	return rawjson.Float(raw)
}

// Raw returns the version's raw value.
func (v Version) Raw() []byte { return v.raw }

// Before returns the message that ended the previous scene (prev_scene_index); ok is false
// if none is noted.
func (v Version) Before() (index float64, ok bool) {
	return rawjson.Float(rawjson.Value(v.raw, "prev_scene_index"))
}

// HasContent reports whether the version has any text.
func (v Version) HasContent() bool {
	content := rawjson.Value(v.raw, "content")
	return rawjson.KindOf(content) == rawjson.String && rawjson.Truthy(content)
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
		raw, hasCurrent := store.Get("current_version")
		current, isNumber := rawjson.Float(raw)
		top, currentKept := 0.0, false
		pruned := rawjson.Filter(versions, func(_ int, raw []byte) bool {
			version := Version{raw}
			p.Total++
			if !keep(version) {
				return false
			}
			p.Kept++
			if number, ok := version.Number(); ok {
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
			store.Set("current_version", []byte(p.Now))
			p.Was = "nothing"
			if hasCurrent {
				p.Was = string(rawjson.Compact(raw))
			}
		}
	}, KeyRunning)
	return p
}

// Newest returns the raw highest number of a version, nil if none has one.
func (r Running) Newest() (text []byte) {
	top := math.Inf(-1)
	for version := range r.Versions() {
		if number, ok := version.Number(); ok && !math.IsInf(number, 0) && number > top {
			top, text = number, version.NumberText()
		}
	}
	return text
}

// SetCurrent makes the version with the raw number the current one.
func SetCurrent(metadata *rawjson.Object, number []byte) {
	metadata.Edit(func(store *rawjson.Object) { store.Set("current_version", number) }, KeyRunning)
}

// SetRunningChat makes the running recap belong to the chat called name, and reports whether
// that changed anything. In a chat without a parent Auto-Recap erases a recap of another chat.
func SetRunningChat(metadata *rawjson.Object, name string) (changed bool) {
	metadata.Edit(func(store *rawjson.Object) { changed = own(store, name) }, KeyRunning)
	return changed
}

// own sets a store's chat_id, and reports whether that changed it.
func own(store *rawjson.Object, name string) bool {
	if old, ok := rawjson.Unquote(store.Value("chat_id")); ok && old == name {
		return false
	}
	store.Set("chat_id", rawjson.Quote(name))
	return true
}

// MoveScenes moves the message indexes in the versions of the running recap: new_scene_index
// by moved, prev_scene_index by before. It returns how many versions it changed.
func MoveScenes(metadata *rawjson.Object, moved, before func(index int) int) (changed int) {
	metadata.Edit(func(store *rawjson.Object) {
		store.EditList("versions", func(_ int, raw []byte) ([]byte, bool) {
			return rawjson.Edit(raw, func(version *rawjson.Object) {
				moveIndex(version, "new_scene_index", moved)
				if moveIndex(version, "prev_scene_index", before); version.Edited() {
					changed++
				}
			}), true
		})
	}, KeyRunning)
	return changed
}

// moveIndex moves the message index under a key; what is not an index stays.
func moveIndex(o *rawjson.Object, key string, move func(index int) int) {
	if at, ok := rawjson.Int(o.Value(key)); ok && at >= 0 {
		if to := move(at); to != at {
			o.Set(key, strconv.AppendInt(nil, int64(to), 10))
		}
	}
}

// SetChat makes everything that Auto-Recap keeps in a chat's metadata belong to the chat called
// name: the running recap, the combined one, and the state of a checkpoint.
func SetChat(metadata *rawjson.Object, name string) {
	SetRunningChat(metadata, name)
	SetCombinedChat(metadata, name)
	metadata.Edit(func(state *rawjson.Object) {
		if state.Has("chat_id") {
			own(state, name)
		}
	}, keyCheckpoint)
}

// Whole returns the whole number under a key of the version, nil if there is none.
func (v Version) Whole(key string) *int { return rawjson.IntOrNil(rawjson.Value(v.raw, key)) }

// Time returns when the version was made, in milliseconds since 1970; ok is false if that
// is not noted.
func (v Version) Time() (ms int64, ok bool) {
	f, ok := rawjson.Float(rawjson.Value(v.raw, "timestamp"))
	const latest = 1 << 53
	return int64(f), ok && f >= 0 && f < latest
}

// ChooseRecap returns a message with version k, from 0, of its scene recap current. Like the
// arrows of sceneBreak.js it sets the number, the text in both of its places, and its hash
// (computeRecapHash), also in the mirror in swipe_info that set_data of messageData.js keeps
// for every swipe but the first. versions is how many there are. The error is [ErrVersion],
// or that line is not an object.
func ChooseRecap(line []byte, k int) (edited []byte, versions int, err error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, 0, err
	}
	extra, _ := m.Object("extra")
	if extra == nil {
		return nil, 0, ErrVersion
	}
	key := Module
	if !extra.Has(key) {
		key = DocumentedModule
	}
	mark, ok := extra.Object(key)
	if !ok {
		return nil, 0, ErrVersion
	}
	list := mark.Value("scene_recap_versions")
	var text []byte
	for raw := range rawjson.Elements(list) {
		if versions == k {
			text = raw
		}
		versions++
	}
	recap, isText := rawjson.Unquote(text)
	if !isText {
		return nil, versions, ErrVersion
	}
	mark.Set("scene_recap_current_index", strconv.AppendInt(nil, int64(k), 10))
	mark.Set("scene_break_recap", text)
	mark.Set("scene_recap_memory", text)
	mark.Set("scene_recap_hash", rawjson.Quote(jsvalue.Hash36(jsvalue.Trim(recap))))
	extra.Set(key, mark.Bytes())
	m.Set("extra", extra.Bytes())
	if n, ok := rawjson.Int(m.Value("swipe_id")); ok && n > 0 {
		m.EditList("swipe_info", func(i int, raw []byte) ([]byte, bool) {
			if i != n {
				return raw, true
			}
			return mirror(raw, key, mark.Bytes()), true
		})
	}
	return m.Bytes(), versions, nil
}

// mirror returns a swipe's info with the mark in its extra.
func mirror(raw []byte, key string, mark []byte) []byte {
	return rawjson.Edit(raw, func(info *rawjson.Object) {
		extra, ok := info.Object("extra")
		if !ok {
			extra = rawjson.NewObject()
		}
		extra.Set(key, mark)
		info.Set("extra", extra.Bytes())
	})
}

// ErrVersion means that a recap has no such version.
var ErrVersion = errors.New("there is no such version")

// ChooseRunning makes a version of the running recap current. had are the numbers of all
// versions. The error is [ErrVersion].
func ChooseRunning(metadata *rawjson.Object, version int) (had []string, err error) {
	running, _ := RunningIn(metadata)
	found := false
	for v := range running.Versions() {
		n, ok := v.Number()
		if !ok {
			continue
		}
		had = append(had, jsvalue.FormatNumber(n))
		found = found || n == float64(version)
	}
	if !found {
		return had, ErrVersion
	}
	if now, ok := rawjson.Float(running.Current()); !ok || now != float64(version) {
		SetCurrent(metadata, strconv.AppendInt(nil, int64(version), 10))
	}
	return had, nil
}
