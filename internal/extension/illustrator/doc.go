// Package illustrator knows what Auto-Illustrator keeps in a chat: the registry in
// chat_metadata, whose prompts name each other, their messages and their images, and the markers
// in messages that name a prompt. It reads the registry, finds faults in it, and edits it.
//
// The facts come from src/prompt_manager.ts and src/reconciliation.ts at c32b9b5.
package illustrator

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
