// Package autorecap knows the data that ST-Auto-Recap keeps in a chat: its keys in
// chat_metadata, its marks on messages, the registries it writes into lorebooks, and
// the four requirements that can be made of a chat before it is branched.
//
// The package works on bytes that its callers have read; it opens no files. The facts come from
// the extension's source, QueenGytha/ST-Auto-Summarize at 5083d00. What all lorebooks have in
// common, and the queue entry that cloning empties, is in package lorebook.
package autorecap
