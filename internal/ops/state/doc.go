// Package state holds the verbs for what extensions keep beside chats and characters
// (CONTENT.md 5): Luker's sidecars and floor logs, and views of what Auto-Recap and
// Auto-Illustrator keep in the metadata. They are listed, read, changed, deleted and told
// about. Luker itself does all of it in a browser; what it means by each call was read in
// its source and stands in package luker.
package state
