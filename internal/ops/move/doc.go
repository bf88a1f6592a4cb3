// Package move holds the verbs by which chats come, go and get other names: open, new,
// rename, move and delete (FAMILY.md 3). Each finds who names a chat with package family,
// says what is to become of those names, and drafts one change set: order, dry run,
// journal and undo are not its business.
package move
