package autorecap

import (
	"bytes"
	"context"

	"stchat/internal/jsonl"
	"stchat/internal/jsvalue"
	"stchat/internal/rawjson"
)

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
