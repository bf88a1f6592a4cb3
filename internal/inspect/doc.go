// Package inspect reports what a chat contains: how many messages of whom, from
// when to when, what its bytes are spent on, what it depends on and what depends
// on it, and what extensions keep in it.
//
// A chat is read once. What a line says is counted where it lies, by several
// goroutines in a large chat and without allocating for ordinary lines, so a
// chat of gigabytes costs little more than reading it, and memory depends on its
// longest line. Around the chat, folders are listed and group files and
// lorebooks read once each, however many chats ask for them ([Around]).
//
// It reads as SillyTavern does: truth is JavaScript's, the last of repeated
// keys counts, and lines that SillyTavern would drop are damage and not
// counted. The package only reads.
package inspect
