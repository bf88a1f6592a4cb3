package autorecap

import (
	"fmt"
	"iter"

	"stchat/internal/rawjson"
)

// Misshapen calls found with each fault in a chat's metadata that Auto-Recap cannot cope with
// (runningSceneRecap.js at 5083d00): it walks versions without checking what they are, and of
// two with the same number finds only the first.
func Misshapen(metadata *rawjson.Object, found func(fault string)) {
	if list, ok := metadata.Get(keyProcessed); ok && rawjson.Truthy(list) && rawjson.KindOf(list) != rawjson.Array {
		found(fmt.Sprintf("%s is %v, not a list", keyProcessed, rawjson.KindOf(list)))
	}
	store := metadata.Value(KeyRunning)
	running, ok := ReadRunning(store)
	if !ok {
		if rawjson.Truthy(store) {
			found(fmt.Sprintf("the running recap is %v, not an object", rawjson.KindOf(store)))
		}
		return
	}
	if current, ok := rawjson.Lookup(store, "current_version"); ok && rawjson.KindOf(current) != rawjson.Number {
		found(fmt.Sprintf("current_version is %v, not a number", rawjson.KindOf(current)))
	}
	versions := rawjson.Value(store, "versions")
	if kind := rawjson.KindOf(versions); kind != rawjson.Array {
		if rawjson.Truthy(versions) {
			found(fmt.Sprintf("versions is %v, not a list", kind))
		}
		return
	}
	times := map[float64]int{}
	i := 0
	for version := range running.Versions() {
		i++
		kind := rawjson.KindOf(version.raw)
		number, numbered := version.Number()
		switch {
		case kind != rawjson.ObjectKind:
			found(fmt.Sprintf("version %d of the list is %v, not an object", i, kind))
			continue
		case !numbered:
			found(fmt.Sprintf("version %d of the list has no number", i))
		default:
			if times[number]++; times[number] == 2 {
				found(fmt.Sprintf("there are several versions with the number %s", version.NumberText()))
			}
		}
		if rawjson.KindOf(rawjson.Value(version.raw, "content")) != rawjson.String {
			found(fmt.Sprintf("version %d of the list has no text", i))
		}
	}
}

// ClampScenes sets each prev_scene_index of a version that is beyond the last message to the
// last one, and calls lost with the raw value it had. messages is the number of messages.
func ClampScenes(metadata *rawjson.Object, messages int, lost func(raw []byte)) {
	metadata.Edit(func(store *rawjson.Object) {
		store.EditList("versions", func(_ int, raw []byte) ([]byte, bool) {
			if at, ok := (Version{raw}).Before(); !ok || at < float64(messages) {
				return raw, true
			}
			return rawjson.Edit(raw, func(version *rawjson.Object) {
				lost(version.Value("prev_scene_index"))
				version.Set("prev_scene_index", fmt.Append(nil, max(messages-1, 0)))
			}), true
		})
	}, KeyRunning)
}

// Indexed iterates over the uids in the registry's index (auto_lorebooks.registry.index).
func Indexed(metadata *rawjson.Object) iter.Seq[string] {
	return func(yield func(uid string) bool) {
		index, err := rawjson.ParseObject(rawjson.Value(metadata.Value(keyBooks), "registry", "index"))
		if err != nil {
			return
		}
		for key, record := range index.All() {
			if !yield(indexUID(key, record)) {
				return
			}
		}
	}
}
