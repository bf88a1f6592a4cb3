package autorecap

import (
	"bytes"
	"context"

	"stchat/internal/jsonl"
	"stchat/internal/jsvalue"
	"stchat/internal/message"
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

// MoveMarks returns a message with the indexes in its marks moved: startIdx by start and
// endIdx by end, in the versions of scene_recap_metadata and in stage1_lorebook_metadata, of
// extra and of every swipe's extra (operationHandlers.js reads them). It returns line itself
// if there is nothing to move.
func MoveMarks(line []byte, start, end func(index int) int) []byte {
	return message.EditExtras(line, func(extra *rawjson.Object) {
		for _, key := range [...]string{Module, DocumentedModule} {
			extra.Edit(func(mark *rawjson.Object) {
				mark.Edit(func(versions *rawjson.Object) {
					for _, version := range versions.Keys() {
						moveRange(versions, version, start, end)
					}
				}, "scene_recap_metadata")
				moveRange(mark, "stage1_lorebook_metadata", start, end)
			}, key)
		}
	})
}

// moveRange moves startIdx and endIdx of the object under a key.
func moveRange(o *rawjson.Object, key string, start, end func(index int) int) {
	o.Edit(func(ranged *rawjson.Object) {
		moveIndex(ranged, "startIdx", start)
		moveIndex(ranged, "endIdx", end)
	}, key)
}

// SceneMark is what a message says about the scene that ends with it.
type SceneMark struct {
	At         int // the message's index
	Scene      Scene
	Name       string
	Versions   []byte // the raw list of texts; nil if there is none
	Current    int    // index into Versions; 0 if none is noted
	Recap      string // the text that counts
	Start, End *int   // first and last message it was made of; nil if not noted
}

// ReadSceneMark reads a scene mark from a message's extra, without At; ok is false if the
// message neither ends a scene nor has a recap. The mark does not alias extra.
func ReadSceneMark(extra []byte) (s SceneMark, ok bool) {
	module := rawjson.Value(extra, Module)
	documented := rawjson.Value(extra, DocumentedModule)
	mark, ok := ReadMark(module, documented)
	if !ok {
		return s, false
	}
	s.Scene = mark.Scene()
	get := func(key string) []byte {
		raw, ok := rawjson.Lookup(module, key)
		if !ok {
			raw = rawjson.Value(documented, key)
		}
		return raw
	}
	s.Name, _ = rawjson.Unquote(get("scene_break_name"))
	s.Recap, _ = rawjson.Unquote(mark.recap)
	if n, ok := rawjson.Int(mark.version); ok {
		s.Current = n
	}
	if list := get("scene_recap_versions"); rawjson.KindOf(list) == rawjson.Array {
		s.Versions = bytes.Clone(rawjson.Compact(list))
	}
	ranged := rawjson.Value(mark.metadata, jsvalue.FormatNumber(float64(s.Current)))
	s.Start, s.End = rawjson.IntOrNil(rawjson.Value(ranged, "startIdx")), rawjson.IntOrNil(rawjson.Value(ranged, "endIdx"))
	return s, s.Scene.Break || s.Scene.Recap || s.Versions != nil
}

// SceneMarks returns the scene marks of a chat, in order. from is the offset at which the
// messages begin, line the number of physical lines before it. Damaged lines are skipped.
func SceneMarks(ctx context.Context, src jsonl.Source, from int64, line int) (list []SceneMark, err error) {
	err = jsonl.Each(ctx, src, jsonl.MapOptions{From: from, Line: line, Keys: jsonl.NewKeys("extra")}, func(l *jsonl.Line, base jsonl.Base) error {
		extra, _ := l.Value(0)
		if s, ok := ReadSceneMark(extra); ok && l.Damage == nil {
			s.At = base.Index + l.Index
			list = append(list, s)
		}
		return nil
	})
	return list, err
}

// Recaps reports by message which scenes of a chat have a recap; the arguments are those of
// [SceneMarks].
func Recaps(ctx context.Context, src jsonl.Source, from int64, line int) (map[int]bool, error) {
	has := map[int]bool{}
	scenes, err := SceneMarks(ctx, src, from, line)
	for _, s := range scenes {
		has[s.At] = s.Scene.Recap
	}
	return has, err
}
