// Package sillytavern is the room of the files as SillyTavern keeps them: an open chat with its place and
// its groups (chat), a message (message), group files (group), character cards (card), the
// copies that SillyTavern makes itself (backups), chats that are not lines of UTF-8 (reline), and which messages of a
// chat are meant (choose).
//
// A value that is read here reads as SillyTavern 1.19.0 reads it; FORMATS and the comments name
// the file and function. What an edit does not name keeps its bytes.
//
// It knows nothing of what extensions keep, and nothing of other chats than the one it was asked about.
package sillytavern
