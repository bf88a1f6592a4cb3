// Package edit holds the verbs that edit chats in place: messages and metadata (CONTENT.md
// 1.3). A verb describes the changes to each chat as a [Plan]; one engine opens the chat,
// refuses what must not be edited, finds what follows from the changes, and drafts one change
// set, which is made whole or not at all and which undo reverts.
package edit
