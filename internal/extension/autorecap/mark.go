package autorecap

import (
	"stchat/internal/jsvalue"
	"stchat/internal/rawjson"
)

// The keys of a message's extra that hold a mark. The extension writes the first; its
// documents name the second.
const (
	Module           = "auto_recap_memory"
	DocumentedModule = "auto_recap"
)

// Mark is what Auto-Recap notes on one message, as raw values.
type Mark struct{ ends, visible, recap, version, metadata []byte }

// Scene is what a mark says about the scene that ends with its message.
type Scene struct {
	Break  bool // the message ends a scene
	Hidden bool // but the break is hidden, so it does not count
	Recap  bool // the scene has a recap
}

// ReadMark reads a message's mark from the raw values of [Module] and
// [DocumentedModule], each nil if it is missing. Of a key that both have, that of the
// first counts. ok is false if the message has no mark.
func ReadMark(module, documented []byte) (m Mark, ok bool) {
	for _, raw := range [...][]byte{documented, module} {
		for key, value := range rawjson.Members(raw) {
			ok = true
			switch {
			case rawjson.KeyIs(key, "scene_break"):
				m.ends = value
			case rawjson.KeyIs(key, "scene_break_visible"):
				m.visible = value
			case rawjson.KeyIs(key, "scene_recap_memory"):
				m.recap = value
			case rawjson.KeyIs(key, "scene_recap_current_index"):
				m.version = value
			case rawjson.KeyIs(key, "scene_recap_metadata"):
				m.metadata = value
			}
		}
	}
	return m, ok
}

// Scene returns what the mark says about its scene.
func (m *Mark) Scene() Scene {
	return Scene{
		Break:  rawjson.Truthy(m.ends),
		Hidden: string(m.visible) == "false",
		Recap:  rawjson.KindOf(m.recap) == rawjson.String && rawjson.Truthy(m.recap),
	}
}

// Entries returns the mark's snapshot of the lorebook: the list
// scene_recap_metadata[scene_recap_current_index ?? 0].allEntries, unless it is empty
// (extractHistoricalLorebookState of lorebookReconstruction.js).
func (m *Mark) Entries() (allEntries []byte, ok bool) {
	version := "0"
	if kind := rawjson.KindOf(m.version); kind != rawjson.Invalid && kind != rawjson.Null {
		value, ok := jsvalue.Parse(m.version)
		if !ok {
			return nil, false
		}
		version = jsvalue.String(value)
	}
	entries := rawjson.Value(m.metadata, version, "allEntries")
	for range rawjson.Elements(entries) {
		return entries, true
	}
	return nil, false
}
