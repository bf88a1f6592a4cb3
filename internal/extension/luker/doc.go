// Package luker knows what Luker, a fork of SillyTavern, keeps beside and inside its chats.
//
// Beside a chat lie its sidecars, one file per namespace: floor logs, which record what
// each message changed and are cut with the chat; chat_sync, which belongs to one file
// only; and others, which only their plugin understands. Beside a character's card lies
// state of the same kind. A floor log is read as a stream, since it may not fit into
// memory: [EachCommit], [Rewrite] and [Cut] hold one commit at a time, [ReplayLog] holds
// the state.
//
// Inside the chat, messages note what they did to variables, and chat_metadata.variables
// is only the result: [Variables] computes it again.
//
// [Variables] and [Replay] share tree.go: values as JavaScript holds them, and the limits
// of what a replay may cost. Their operations have nothing in common: those on variables
// follow dotted paths, create what is missing and turn texts into numbers and lists;
// those of floor logs follow JSON pointers and fail where something is missing.
//
// Where Luker keeps its data in a database, the files are stale copies; [InDatabase]
// finds that out.
package luker
