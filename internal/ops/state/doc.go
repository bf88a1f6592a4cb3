// Package state holds the verbs for what extensions keep beside chats and characters
// (CONTENT.md 5): Luker's sidecars and floor logs, and views of what Auto-Recap and
// Auto-Illustrator keep in the metadata. The verbs list, read, change, delete and prune it,
// and show its history. Luker itself does all of this in a browser; package luker follows
// its source.
package state
