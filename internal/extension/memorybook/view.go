package memorybook

import (
	"fmt"

	"stchat/internal/extension"
	"stchat/internal/rawjson"
)

// View is what STMemoryBooks keeps in a chat: messages, null where none is noted.
type View struct {
	Name       string `json:"name"`  // "memory-books"
	Known      bool   `json:"known"` // true
	Bytes      int64  `json:"bytes"`
	SceneStart *int   `json:"scene_start"`
	SceneEnd   *int   `json:"scene_end"`
	Highest    *int   `json:"highest_memory"` // the last message that a memory covers
}

// View describes the marks.
func (*Extension) View(v *extension.Viewing) extension.View {
	raw, ok := v.Metadata.Get(Key)
	if !ok {
		return nil
	}
	marks := Read(raw)
	return &View{
		Name: "memory-books", Known: true, Bytes: v.Bytes,
		SceneStart: rawjson.IntOrNil(marks.Start), SceneEnd: rawjson.IntOrNil(marks.End), Highest: rawjson.IntOrNil(marks.Highest),
	}
}

// Cells returns which scene is marked, and how far memories go.
func (v *View) Cells() (label string, cells []string) {
	scene := "no scene marked"
	switch {
	case v.SceneStart != nil && v.SceneEnd != nil:
		scene = fmt.Sprintf("scene #%d to #%d", *v.SceneStart, *v.SceneEnd)
	case v.SceneStart != nil:
		scene = fmt.Sprintf("scene from #%d", *v.SceneStart)
	case v.SceneEnd != nil:
		scene = fmt.Sprintf("scene up to #%d", *v.SceneEnd)
	}
	memories := "no memories"
	if v.Highest != nil {
		memories = fmt.Sprintf("memories up to #%d", *v.Highest)
	}
	return "MemoryBooks", []string{scene, memories}
}
