package illustrator

import (
	"stchat/internal/extension"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// View is what Auto-Illustrator keeps in a chat.
type View struct {
	Name    string `json:"name"`  // "auto-illustrator"
	Known   bool   `json:"known"` // true
	Bytes   int64  `json:"bytes"`
	Prompts int    `json:"prompts"`
	Trees   int    `json:"trees"` // prompts that refine no other
	Images  int    `json:"images"`
}

// View describes the registry.
func (*Extension) View(v *extension.Viewing) extension.View {
	raw, ok := v.Metadata.Get(Key)
	if !ok {
		return nil
	}
	members := func(key string) (n int) {
		for range rawjson.Members(rawjson.Value(raw, keyRegistry, key)) {
			n++
		}
		return n
	}
	return &View{
		Name: "auto-illustrator", Known: true, Bytes: v.Bytes,
		Prompts: members(keyNodes), Trees: rawjson.Len(rawjson.Value(raw, keyRegistry, keyRoots)), Images: members(keyImages),
	}
}

// Cells returns what there is, for people.
func (v *View) Cells() (label string, cells []string) {
	return "Illustrator", []string{plural.S(v.Prompts, "prompt"), plural.S(v.Trees, "tree"), plural.S(v.Images, "image")}
}
