// Package edit holds the verbs that edit chats in place: messages and metadata
// (CONTENT.md 1.3). A verb says what it wants of each chat as a [Plan]; one engine opens
// the chat, refuses what must not be edited, finds what follows from it, and drafts one
// change set: all or nothing, taken back by undo.
package edit
