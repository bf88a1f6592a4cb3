// Package illustrator knows what Auto-Illustrator keeps in a chat: the registry in
// chat_metadata, whose prompts name each other, their messages and their images, and the markers
// in messages that name a prompt. It reads the registry, finds faults in it, and edits it.
//
// The facts come from src/prompt_manager.ts and src/reconciliation.ts at c32b9b5.
package illustrator

import (
	"stchat/internal/extension"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// Key is the extension's key in chat_metadata.
const Key = "auto_illustrator"

// Keys of the registry, which is the value of keyRegistry in [Key].
const (
	keyRegistry = "promptRegistry"
	keyNodes    = "nodes"
	keyImages   = "imageToPromptId"
	keyRoots    = "rootPromptIds"
)

// Keys of the gallery.
const (
	keyGallery = "galleryWidget"
	keyOpen    = "expandedMessages"
)

// Extension is Auto-Illustrator: prompts of messages that go, or that a branch does not have, go
// with them, and so do the references to them from roots, children and images, and the gallery's
// open messages. A prompt whose parent goes becomes a root, as in upstream's deletePromptNode.
// Those of messages that move get the new index and the id that follows from it.
type Extension struct {
	extension.None
	ids ids

	registry *Registry // of a chat that is judged
	places   Places
}

// Name returns the extension's name in reports.
func (*Extension) Name() string { return Key }

// Keys returns the extension's key of chat_metadata.
func (*Extension) Keys() []string { return []string{Key} }

// Isolate removes prompts of messages that the branch lacks.
func (e *Extension) Isolate(b *extension.Branch) {
	did := Prune(b.Metadata, b.Messages(), nil)
	if did.Gone > 0 {
		b.Add(e, "%d of %s kept", did.Prompts-did.Gone, plural.S(did.Prompts, "prompt"))
	}
	if did.ImagesGone > 0 {
		b.Add(e, "%d of %s kept", did.Images-did.ImagesGone, plural.S(did.Images, "image"))
	}
	same := func(message int) (int, bool) { return message, true }
	if total, kept := MoveOpen(b.Metadata, b.Messages(), same, nil); kept < total {
		b.Add(e, "%d of %s of the gallery kept", kept, plural.S(total, "open message"))
	}
}

// Begin works out which prompts go and which get new ids.
func (e *Extension) Begin(f *extension.Following) { e.ids = idsOf(f.Metadata, f.Shift) }

// Holds reports whether a message may have a marker, in a chat that has prompts.
func (*Extension) Holds(metadata *rawjson.Object) func(m *extension.Message) bool {
	if Read(metadata) == nil {
		return nil
	}
	return func(m *extension.Message) bool { return HasMarker(m.Raw) }
}

// Follow brings the registry and the gallery in step.
func (e *Extension) Follow(f *extension.Following) {
	if !f.Moves() {
		return
	}
	did := (&Edit{
		Gone: e.ids.gone, Renamed: e.ids.renamed, Images: len(f.Gone) > 0,
		Move: func(_ string, message int) int {
			if message < f.Messages {
				return f.Map(message)
			}
			return message
		},
	}).Apply(f.Metadata)
	MoveOpen(f.Metadata, f.Messages, f.Staying, nil)
	if did.Gone > 0 {
		f.Add(e, "%d of %s kept", did.Prompts-did.Gone, plural.S(did.Prompts, "prompt"))
	}
	if did.ImagesGone > 0 {
		f.Add(e, "%s removed", plural.S(did.ImagesGone, "image"))
	}
	if did.Moved > 0 {
		f.Add(e, "%s moved with their messages", plural.S(did.Moved, "prompt"))
	}
	for _, id := range e.ids.kept {
		f.Add(e, "the prompt %s keeps its id: another prompt has the one it would get", id)
	}
}

// Line gives the markers in a message the new ids of their prompts.
func (e *Extension) Line(_ *extension.Following, _ int, line []byte) []byte {
	return e.ids.renamed.Line(line)
}

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

// Entries counts the prompts.
func (v *View) Entries() int { return v.Prompts }

// Cells returns what there is, for people.
func (v *View) Cells() (label string, cells []string) {
	return "Illustrator", []string{plural.S(v.Prompts, "prompt"), plural.S(v.Trees, "tree"), plural.S(v.Images, "image")}
}
