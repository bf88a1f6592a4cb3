// Package autorecap knows the data that ST-Auto-Recap keeps in a chat: its keys in
// chat_metadata, its marks on messages, the registries it writes into lorebooks, and
// the four requirements that a chat can be held to before it is branched.
//
// Everything here works on bytes that others have read: nothing opens a file. The
// facts are those of FORMATS.md part B, which names the extension's source files.
// What is common to all lorebooks, and the queue entry that cloning empties, is in
// package lorebook.
package autorecap
