package autorecap

import (
	"fmt"
	"iter"
	"math"
	"time"

	"stchat/internal/rawjson"
)

// pendingAge is the age at which the extension's cleanupStalePendingEntries drops a
// pending operation.
const pendingAge = 24 * time.Hour

// Waiting counts the operations that are pending in autoLorebooks, and the stale ones among
// them.
type Waiting struct {
	All     int
	Old     int // more than 24 hours old
	Undated int // without a readable timestamp: the extension never drops them
}

// Pending counts what is pending in autoLorebooks at now.
func Pending(metadata *rawjson.Object, now time.Time) (w Waiting) {
	operations, err := rawjson.ParseObject(rawjson.Value(metadata.Value(keyPending), "pendingOps"))
	if err != nil {
		return w
	}
	for _, operation := range operations.All() {
		w.All++
		switch old, dated := isStale(operation, now, pendingAge); {
		case !dated:
			w.Undated++
		case old:
			w.Old++
		}
	}
	return w
}

// isStale reports whether an operation is older than age; dated is false if its time is
// unknown.
func isStale(operation []byte, now time.Time, age time.Duration) (old, dated bool) {
	ms, ok := rawjson.Float(rawjson.Value(operation, "timestamp"))
	return ok && ms < float64(now.Add(-age).UnixMilli()), ok && !math.IsInf(ms, 0)
}

// DropPending removes the pending operations that are old or undated, and calls lost with
// each.
func DropPending(metadata *rawjson.Object, now time.Time, lost func(name string, raw []byte)) {
	dropPending(metadata, func(raw []byte) bool {
		old, dated := isStale(raw, now, pendingAge)
		return old || !dated
	}, lost)
}

// PrunePending removes the pending operations that were noted more than age ago, and returns
// how many (cleanupStalePendingEntries: those without a time stay).
func PrunePending(metadata *rawjson.Object, now time.Time, age time.Duration) (dropped int) {
	dropPending(metadata, func(raw []byte) bool {
		stamp := rawjson.Value(raw, "timestamp")
		old, dated := isStale(raw, now, age)
		return old && dated && rawjson.Truthy(stamp)
	}, func(string, []byte) { dropped++ })
	return dropped
}

func dropPending(metadata *rawjson.Object, goes func(raw []byte) bool, lost func(name string, raw []byte)) {
	metadata.Edit(func(operations *rawjson.Object) {
		for _, name := range operations.Keys() {
			if raw := operations.Value(name); goes(raw) {
				lost(name, raw)
				operations.Unset(name)
			}
		}
	}, keyPending, "pendingOps")
}

// ForgetPending empties pendingOps and returns how many operations it held.
func ForgetPending(metadata *rawjson.Object) (held int) {
	metadata.Edit(func(auto *rawjson.Object) {
		if operations, ok := auto.Object("pendingOps"); ok && operations.Len() > 0 {
			held = operations.Len()
			auto.Set("pendingOps", []byte("{}"))
		}
	}, keyPending)
	return held
}

// PendingIn returns the raw value of pendingOps, nil if there is none.
func PendingIn(metadata *rawjson.Object) []byte {
	return rawjson.Value(metadata.Value(keyPending), "pendingOps")
}

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

// Combined is the combined recap of Auto-Recap's documents, which no code writes.
type Combined struct{ raw []byte }

// CombinedIn returns the combined recap of a chat; ok is false if there is none.
func CombinedIn(metadata *rawjson.Object) (c Combined, ok bool) {
	c.raw, ok = rawjson.Lookup(metadata.Value(keyDocumented), "combined_recap")
	return c, ok
}

// ChatID returns the name of the recap's chat, and whether one is noted.
func (c Combined) ChatID() (string, bool) {
	return rawjson.Unquote(rawjson.Value(c.raw, "chat_id"))
}

// Messages returns how many messages the recap covers; ok is false if that is not noted.
func (c Combined) Messages() (n float64, ok bool) {
	return rawjson.Float(rawjson.Value(c.raw, "message_count"))
}

// DropCombined removes a combined recap that covers more messages than there are. It
// returns the number that the recap noted, or "" if it removed none.
func DropCombined(metadata *rawjson.Object, messages int) (was string) {
	combined, ok := CombinedIn(metadata)
	if !ok || rawjson.KindOf(combined.raw) != rawjson.ObjectKind {
		return ""
	}
	count, ok := combined.Messages()
	if !ok || count <= float64(messages) {
		return ""
	}
	was = string(rawjson.Compact(rawjson.Value(combined.raw, "message_count")))
	metadata.Edit(func(recap *rawjson.Object) { recap.Unset("combined_recap") }, keyDocumented)
	return was
}

// SetCombinedChat makes the combined recap belong to the chat called name, and reports
// whether that changed anything.
func SetCombinedChat(metadata *rawjson.Object, name string) (changed bool) {
	metadata.Edit(func(combined *rawjson.Object) { changed = own(combined, name) }, keyDocumented, "combined_recap")
	return changed
}
