package memorybook

import "stchat/internal/extension"

// Extension is STMemoryBooks: a mark on a message that a branch does not have, or that goes,
// becomes null, or moves to the last message. The rules are from sceneManager.js of
// SillyTavern-MemoryBooks at 0275d5a.
type Extension struct{ extension.None }

// Name returns the extension's name in reports.
func (*Extension) Name() string { return Key }

// Keys returns the extension's key of chat_metadata.
func (*Extension) Keys() []string { return []string{Key} }

// Names returns the keys that name lorebooks outside the chat-bound mode, and those of memories.
func (*Extension) Names() []extension.NameKey {
	return []extension.NameKey{
		extension.Key(extension.Metadata, extension.Book, Key+"/manualLorebook"),
		extension.Key(extension.Metadata, extension.Book, Key+"/manualCharacterLorebooks/*"),
		extension.Key(extension.Metadata, extension.Book, Key+"/narratorMode/members/*/lorebookName"),
		extension.Key(extension.Metadata, extension.Book, Key+"/sidePromptLorebookOverrides/*"),
		extension.Key(extension.Lorebook, extension.OwnChat, "entries/*/STMB_chatId"),
		extension.Key(extension.Lorebook, extension.Book, "entries/*/STMB_canonicalLorebook"),
	}
}

// Isolate clears or lowers the marks that the branch cannot have.
func (e *Extension) Isolate(b *extension.Branch) {
	for _, change := range Trim(b.Metadata, b.Messages()) {
		b.Add(e, "%s", change)
	}
}

// Follow moves the marks with their messages.
func (e *Extension) Follow(f *extension.Following) {
	if !f.Moves() {
		return
	}
	for _, change := range Move(f.Metadata, f.Messages, f.Staying, f.Down) {
		f.Add(e, "%s", change)
	}
}

// Judge reports marks beyond the last message.
func (*Extension) Judge(j *extension.Judging) {
	for _, mark := range Read(j.Metadata.Value(Key)).Beyond(j.Messages) {
		j.Report("memory-book", mark+" of STMemoryBooks is beyond the last message")
	}
}
