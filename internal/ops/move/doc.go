// Package move holds the verbs that create, open, rename, move and delete chats
// (FAMILY.md 3). Each finds what names a chat with package family, decides what becomes of
// those names, and drafts one change set: order, dry run, journal and undo are left to
// package changeset.
package move
