package autorecap

import (
	"bytes"
	"context"

	"stchat/internal/jsonl"
	"stchat/internal/jsvalue"
	"stchat/internal/rawjson"
)

// SceneMark is what a message says of the scene that ends with it (FORMATS.md B1).
type SceneMark struct {
	At         int
	Scene      Scene
	Name       string
	Versions   []byte // the raw list of texts; nil where there is none
	Current    int    // of Versions; 0 where none is noted
	Recap      string // the text that counts
	Start, End *int   // the messages that it was made of, where that is noted
}

// ReadSceneMark reads it from a message's extra; ok is false where the message neither
// ends a scene nor has a recap. It holds nothing of extra.
func ReadSceneMark(extra []byte) (s SceneMark, ok bool) {
	module, _ := rawjson.Lookup(extra, Module)
	documented, _ := rawjson.Lookup(extra, DocumentedModule)
	mark, ok := ReadMark(module, documented)
	if !ok {
		return s, false
	}
	s.Scene = mark.Scene()
	get := func(key string) []byte {
		raw, ok := rawjson.Lookup(module, key)
		if !ok {
			raw, _ = rawjson.Lookup(documented, key)
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
	ranged, _ := rawjson.Lookup(mark.metadata, jsvalue.FormatNumber(float64(s.Current)))
	s.Start, s.End = indexIn(ranged, "startIdx"), indexIn(ranged, "endIdx")
	return s, s.Scene.Break || s.Scene.Recap || s.Versions != nil
}

func indexIn(o []byte, key string) *int {
	raw, _ := rawjson.Lookup(o, key)
	if n, ok := rawjson.Int(raw); ok {
		return &n
	}
	return nil
}

// SceneMarks reads those of a chat, in their order. from is where its messages begin,
// line how many physical lines stand before. Damaged lines are passed over.
func SceneMarks(ctx context.Context, src jsonl.Source, from int64, line int) (list []SceneMark, err error) {
	err = jsonl.Map(ctx, src, jsonl.MapOptions{From: from, Line: line, Limit: -1, Keys: jsonl.NewKeys("extra")},
		func(l *jsonl.Line, batch *[]SceneMark) {
			if l.Damage != nil {
				return
			}
			extra, _ := l.Value(0)
			if s, ok := ReadSceneMark(extra); ok {
				s.At = l.Index
				*batch = append(*batch, s)
			}
		}, func(batch *[]SceneMark, base jsonl.Base, _ jsonl.Damages) error {
			for _, s := range *batch {
				s.At += base.Index
				list = append(list, s)
			}
			return nil
		}, func(batch *[]SceneMark) { *batch = nil })
	return list, err
}
