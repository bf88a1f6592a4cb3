package autorecap

import (
	"bytes"
	"context"

	"stchat/internal/extension"
	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/message"
)

// The keys of a message's extra that hold a mark. The extension writes the first; its
// documents name the second.
const (
	Module           = "auto_recap_memory"
	DocumentedModule = "auto_recap"
)

// Mark is what Auto-Recap notes on one message, as raw values.
type Mark struct{ ends, visible, recap, version, metadata, name, versions []byte }

// Scene is what a mark says about the scene that ends with its message.
type Scene struct {
	Break  bool // the message ends a scene
	Hidden bool // but the break is hidden, so it does not count
	Recap  bool // the scene has a recap
}

// ReadMark reads a message's mark from the raw values of [Module] and
// [DocumentedModule], each nil if it is missing. Of a key that both have, that of the
// first counts.
func ReadMark(module, documented []byte) (m Mark) {
	if module == nil && documented == nil {
		return m // as most messages have none
	}
	keys := []string{"scene_break", "scene_break_visible", "scene_recap_memory", "scene_recap_current_index", "scene_recap_metadata", "scene_break_name", "scene_recap_versions"}
	for _, raw := range [...][]byte{documented, module} {
		rawjson.Into(raw, keys, &m.ends, &m.visible, &m.recap, &m.version, &m.metadata, &m.name, &m.versions)
	}
	return m
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

// Line moves the numbers of messages in the marks of a message, in extra and in every swipe's
// extra: startIdx and endIdx in the versions of scene_recap_metadata and in
// stage1_lorebook_metadata (operationHandlers.js reads them).
func (*Extension) Line(f *extension.Following, i int, line []byte) []byte {
	here := f.Map(i)
	move := func(ranged *rawjson.Object) {
		extension.MoveIndex(ranged, "startIdx", func(at int) int {
			to, ok := f.Up(at)
			if !ok {
				to = here
			}
			return min(to, here)
		})
		extension.MoveIndex(ranged, "endIdx", before(f))
	}
	return message.EditExtras(line, func(extra *rawjson.Object) {
		for _, key := range [...]string{Module, DocumentedModule} {
			extra.Edit(func(mark *rawjson.Object) {
				mark.Edit(func(versions *rawjson.Object) {
					for _, version := range versions.Keys() {
						versions.Edit(move, version)
					}
				}, "scene_recap_metadata")
				mark.Edit(move, "stage1_lorebook_metadata")
			}, key)
		}
	})
}

// readScene reads what a message's extra says about the scene that ends with it, without At; ok is
// false if the message neither ends a scene nor has a recap. Nothing in it aliases extra.
func readScene(extra []byte) (s sceneState, ok bool) {
	mark := ReadMark(rawjson.Value(extra, Module), rawjson.Value(extra, DocumentedModule))
	scene := mark.Scene()
	s.Hidden = scene.Hidden
	s.Name, _ = rawjson.Unquote(mark.name)
	if scene.Recap {
		s.Recap = rawjson.TextOrNil(mark.recap)
	}
	if n, ok := rawjson.Int(mark.version); ok {
		s.Current = n
	}
	s.Versions = []byte("[]")
	listed := rawjson.KindOf(mark.versions) == rawjson.Array
	if listed {
		s.Versions = bytes.Clone(rawjson.Compact(mark.versions))
	}
	ranged := rawjson.Value(mark.metadata, jsvalue.FormatNumber(float64(s.Current)))
	first, begins := rawjson.Int(rawjson.Value(ranged, "startIdx"))
	if last, ends := rawjson.Int(rawjson.Value(ranged, "endIdx")); begins && ends {
		s.Range = &[2]int{first, last}
	}
	return s, scene.Break || scene.Recap || listed
}

// scenes returns the scenes of a chat, in order. from is the offset at which the messages begin,
// line the number of physical lines before it. Damaged lines are skipped.
func scenes(ctx context.Context, src jsonl.Source, from int64, line int) (list []sceneState, err error) {
	err = jsonl.Each(ctx, src, jsonl.MapOptions{From: from, Line: line, Keys: jsonl.NewKeys("extra")}, func(l *jsonl.Line, base jsonl.Base) error {
		extra, _ := l.Value(0)
		if s, ok := readScene(extra); ok && l.Damage == nil {
			s.At = base.Index + l.Index
			list = append(list, s)
		}
		return nil
	})
	return list, err
}

// Recaps reports by message which scenes of a chat have a recap. from is the offset at which the
// messages begin, line the number of physical lines before it.
func Recaps(ctx context.Context, src jsonl.Source, from int64, line int) (map[int]bool, error) {
	has := map[int]bool{}
	list, err := scenes(ctx, src, from, line)
	for _, s := range list {
		has[s.At] = s.Recap != nil
	}
	return has, err
}
