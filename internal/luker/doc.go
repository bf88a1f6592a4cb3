// Package luker knows what Luker, a fork of SillyTavern, keeps beside and inside
// its chats (FORMATS.md A).
//
// Beside a chat lie its sidecars, one file a namespace: floor logs, which say what
// each message changed and are cut with the chat; chat_sync, which belongs to one
// file only; and others, which nobody but their plugin understands. Inside the
// chat, messages note what they did to variables, and chat_metadata.variables is
// only the sum of that: [Variables] adds it up again.
//
// Where Luker keeps its data in a database, files are stale copies, and
// [InDatabase] says so.
package luker
