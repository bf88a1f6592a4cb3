package autorecap

import (
	"fmt"
	"iter"
	"math"
	"time"

	"stchat/internal/jsonl/rawjson"
)

// pendingAge is the age at which the extension's cleanupStalePendingEntries drops a
// pending operation.
const pendingAge = 24 * time.Hour

// isStale reports whether a pending operation was noted before a time; dated is false if its time is
// unknown, as the extension never drops such.
func isStale(operation []byte, before time.Time) (old, dated bool) {
	ms, ok := rawjson.Float(rawjson.Value(operation, "timestamp"))
	return ok && ms < float64(before.UnixMilli()), ok && !math.IsInf(ms, 0)
}

// editPending edits the operations that are pending in autoLorebooks.
func editPending(metadata *rawjson.Object, edit func(operations *rawjson.Object)) {
	metadata.Edit(edit, keyPending, "pendingOps")
}

// dropPending removes the pending operations that go.
func dropPending(metadata *rawjson.Object, goes func(name string, raw []byte) bool) {
	editPending(metadata, func(operations *rawjson.Object) {
		for _, name := range operations.Keys() {
			if goes(name, operations.Value(name)) {
				operations.Unset(name)
			}
		}
	})
}

// misshapen calls found with each fault in a chat's metadata that Auto-Recap cannot cope with
// (runningSceneRecap.js at 5083d00): it walks versions without checking what they are, and of
// two with the same number finds only the first.
func misshapen(metadata *rawjson.Object, found func(fault string)) {
	if list, ok := metadata.Get(keyProcessed); ok && rawjson.Truthy(list) && rawjson.KindOf(list) != rawjson.Array {
		found(fmt.Sprintf("%s is %v, not a list", keyProcessed, rawjson.KindOf(list)))
	}
	running, ok := RunningIn(metadata)
	if !ok {
		if rawjson.Truthy(running) {
			found(fmt.Sprintf("the running recap is %v, not an object", rawjson.KindOf(running)))
		}
		return
	}

	if current := running.Current(); current != nil && rawjson.KindOf(current) != rawjson.Number {
		found(fmt.Sprintf("current_version is %v, not a number", rawjson.KindOf(current)))
	}
	versions := rawjson.Value(running, "versions")
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
		kind := rawjson.KindOf(version)
		number, numbered := version.Number()
		switch {
		case kind != rawjson.ObjectKind:
			found(fmt.Sprintf("version %d of the list is %v, not an object", i, kind))
			continue
		case !numbered:
			found(fmt.Sprintf("version %d of the list has no number", i))
		default:
			if times[number]++; times[number] == 2 {
				found(fmt.Sprintf("there are several versions with the number %s", version.Value("version")))
			}
		}

		if rawjson.KindOf(version.Value("content")) != rawjson.String {
			found(fmt.Sprintf("version %d of the list has no text", i))
		}
	}
}

// indexed iterates over the uids in the registry's index (auto_lorebooks.registry.index).
func indexed(metadata *rawjson.Object) iter.Seq[string] {
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
