package autorecap

import (
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
