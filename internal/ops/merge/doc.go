// Package merge makes one of two copies of a chat, of a character's or group's chats, or of a
// user folder. Nothing in FROM is written. What a chat of FROM adds comes into
// INTO whole: as the chat's own lines, if INTO's copy has nothing of its own, else as a branch
// beside it. No line is ever put together from both sides, and no chat either, with one exception: of
// messages that differ only in how many swipes they have, the line with more swipes stays or comes.
//
// A merge takes five steps, each in files of its own:
//
//   - Open: merge.go sees what INTO and FROM are. chats.go, user.go with userchats.go, and conflicts.go are
//     the three ways from there; open.go lists the chats of both sides.
//   - Read: read.go reads the messages of both sides, and match.go finds whose copy each chat is, by what
//     relate.go says of two chats.
//   - Decide: judge.go says what becomes of each chat, decide.go what it is called, links.go who names whom. Cards,
//     lorebooks and attachments are in cards.go, books.go and refs.go.
//   - Draft: draft.go and header.go write what comes.
//   - Run: run.go makes the changes, and counts them. What a step knows of an owner and of a chat is in owner.go and
//     chatfile.go, and what is to be done in job.go.
//
// match.go, relate.go, judge.go and decide.go read no file.
package merge
