package isolate

import (
	"fmt"

	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// core deals with the two keys in which SillyTavern itself refers to messages
// (FORMATS.md section 0 rules 4 and 5, E3.1, E3.2).
type core struct{ inMetadata }

func (*core) Name() string   { return "core" }
func (*core) Owns() []string { return []string{"lastInContextMessageId", "timedWorldInfo"} }

func (c *core) Apply(metadata *rawjson.Object, at Moment) []Change {
	var changes []Change
	if raw, ok := metadata.Get("lastInContextMessageId"); ok {
		if n, ok := rawjson.Float(raw); ok && n > float64(at.At) {
			metadata.Unset("lastInContextMessageId")
			changes = append(changes, Change{Extension: c.Name(), Change: fmt.Sprintf("lastInContextMessageId %s removed: beyond message %d", rawjson.Compact(raw), at.At)})
		}
	}
	metadata.Edit(func(timed *rawjson.Object) {
		for _, kind := range timedKinds() {
			timed.Edit(func(effects *rawjson.Object) {
				total := effects.Len()
				for _, key := range effects.Keys() {
					if beginsAfter(effects.Value(key), at.Visible) {
						effects.Unset(key)
					}
				}
				if effects.Edited() {
					changes = append(changes, Change{Extension: c.Name(), Change: fmt.Sprintf("%d of %s kept at %s", effects.Len(), plural.S(total, kind+" effect"), plural.S(at.Visible, "visible message"))})
				}
			}, kind)
		}
	}, "timedWorldInfo")
	return changes
}

// timedKinds returns the kinds of timed effects, each an object in timedWorldInfo.
func timedKinds() []string { return []string{"sticky", "cooldown"} }

// beginsAfter reports whether a timed effect comes from messages that a branch with so
// many visible ones does not have. An effect that starts at exactly that number comes
// from a reply that the branch lacks, too, unless it is protected: a cooldown started by
// the end of a sticky effect.
func beginsAfter(effect []byte, visible int) bool {
	start, ok := rawjson.Float(rawjson.Value(effect, "start"))
	if !ok || start < float64(visible) {
		return false
	}
	return start > float64(visible) || !rawjson.Truthy(rawjson.Value(effect, "protected"))
}
