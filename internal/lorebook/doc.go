// Package lorebook reads SillyTavern's lorebooks, the files of a user's worlds
// folder, and makes copies of them that a branch of a chat can call its own.
//
// A chat names its lorebook in chat_metadata.world_info, and SillyTavern copies
// only that name into every checkpoint and branch: all of them write to one book.
// Extensions make it worse: Auto-Recap keeps its work queue and its registries as
// entries of the book. So a clone gets a name of its own, may leave
// those entries out or empty the queue, and otherwise keeps every entry's bytes, uid
// and place.
//
// Names of lorebooks come from strangers' chats. [Find] turns one into a path and
// never leaves the worlds folder. Nothing in this package writes: a clone is bytes
// that the caller puts in place.
package lorebook
