// Package family finds out how chats are related: which chats of a character or a group
// grew from which, at which message, and what else names a chat. It reads and never
// writes.
//
// A chat's parent is the first chat of the same owner that one of these leads to
// ([Reason]): its own main_chat; a link to it on a message of another chat; the uuid
// that the ChatBranches extension notes; its own name, for solo checkpoints from
// before 1.12; and what the messages say. A name that is declared and missing is
// kept as dangling.
//
// Messages are compared by [message.Identity]. The [Point] of a chat is the last of
// its messages that its parent has too, in order and at whatever index: an edit, an
// insertion or a deletion before the fork does not move it.
//
// By content alone, chats are kin if their first messages are the same. Where they
// part, the chat whose next message is the oldest is the trunk and the others are
// its children. A chat that ends there is a copy of the trunk.
//
// No chat is its own ancestor in a [Graph]: a circle is cut at the chat that began
// first. Nothing here recurses, so a chain of a hundred thousand chats is no problem.
package family
