// Package merge makes one of two copies of a chat, of a character's or group's chats, or of a
// user folder (MOVING.md 3). Nothing in FROM is written. What a chat of FROM adds comes into
// INTO whole: as the chat's own lines, if INTO's copy has nothing of its own, else as a branch
// beside it. No line is ever put together from both, and no chat, but for messages of which one side
// has more swipes and else the same: of these the line with more swipes is there afterwards.
//
// relate.go compares two chats by their messages, match.go finds whose copy each chat is and
// what becomes of it; both are pure. side.go reads the chats of one side, plan.go gives names
// and decides about links, draft.go writes.
package merge
