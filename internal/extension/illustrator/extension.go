// Package illustrator knows what Auto-Illustrator keeps in a chat: the registry in
// chat_metadata, whose prompts name each other, their messages and their images, and the markers
// in messages that name a prompt. It reads the registry, finds faults in it, and edits it.
//
// The facts come from src/prompt_manager.ts and src/reconciliation.ts at c32b9b5.
package illustrator

import (
	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/plural"
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

	openMessage = "a message open in the gallery" // what goes from it
)

// Extension is Auto-Illustrator: prompts of messages that go, or that a branch does not have, go
// with them, and so do the references to them from roots, children and images, and the gallery's
// open messages. A prompt whose parent goes becomes a root, as in upstream's deletePromptNode.
// Those of messages that move get the new index and the id that follows from it.
type Extension struct {
	extension.None
	gone    map[string]bool // by a change
	renamed Renames
	kept    []string // prompts that keep their id since another has the new one

	registry *Registry // of a chat that is judged
	places   Places
}

// About returns the extension's key.
func (*Extension) About() extension.About {
	return extension.About{Name: Key, Keys: []string{Key}, Namespace: Namespace}
}

// Isolate removes prompts of messages that the branch lacks.
func (e *Extension) Isolate(b *extension.Branch) {
	did := Prune(b.Metadata, b.Messages(), nil)
	b.Kept(e, did.Prompts-did.Gone, did.Prompts, "prompt", "")
	b.Kept(e, did.Images-did.ImagesGone, did.Images, "image", "")
	b.Kept(e, did.Open-did.OpenGone, did.Open, "open message", " of the gallery")
}

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
		Gone: e.gone, Renamed: e.renamed, Images: len(f.Gone) > 0, Open: f.Staying, Messages: f.Messages,
		Move: func(_ string, message int) int {
			if message < f.Messages {
				return f.Map(message)
			}
			return message
		},
	}).Apply(f.Metadata)

	f.Kept(e, did.Prompts-did.Gone, did.Prompts, "prompt", "")
	if did.ImagesGone > 0 {
		f.Count(e, extension.Removed, "image", did.ImagesGone, did.ImagesGone, "%s removed", plural.S(did.ImagesGone, "image"))
	}
	if did.Moved > 0 {
		f.Count(e, extension.Moved, "prompt", did.Moved, did.Moved, "%s moved with their messages", plural.S(did.Moved, "prompt"))
	}
	for _, id := range e.kept {
		f.Add(e, "the prompt %s keeps its id: another prompt has the one it would get", id)
	}
}

// Line gives the markers in a message the new ids of their prompts.
func (e *Extension) Line(_ *extension.Following, _ int, line []byte) []byte {
	return e.renamed.Line(line)
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
func (*Extension) View(metadata *rawjson.Object, bytes int64) extension.View {
	raw, ok := metadata.Get(Key)
	if !ok {
		return nil
	}
	view := &View{Name: "auto-illustrator", Known: true, Bytes: bytes, Trees: rawjson.Len(rawjson.Value(raw, keyRegistry, keyRoots))}
	for range rawjson.Members(rawjson.Value(raw, keyRegistry, keyNodes)) {
		view.Prompts++
	}
	for range rawjson.Members(rawjson.Value(raw, keyRegistry, keyImages)) {
		view.Images++
	}
	return view
}

// Entries counts the prompts.
func (v *View) Entries() int { return v.Prompts }

// Cells returns what there is, for people.
func (v *View) Cells() (label string, cells []string) {
	return "Illustrator", []string{plural.S(v.Prompts, "prompt"), plural.S(v.Trees, "tree"), plural.S(v.Images, "image")}
}
