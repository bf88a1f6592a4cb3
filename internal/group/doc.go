// Package group reads SillyTavern's group files, groups/<id>.json, and edits the two
// things in them that concern chats: the list of the group's chats, without which
// SillyTavern cannot open a group chat, and the metadata that versions up to 1.14 kept
// there instead of in the chat.
//
// Edits are splices: they return the file's bytes with the one value changed and every
// other byte kept, white space, key order and repeated keys included. The package
// never writes: [Edit] is what a change set renders.
//
// A group file is a stranger's. A damaged one is an error that names it, and does not
// stop the others. What it lists are names, not paths: they go through userdir.Within
// before they touch the disk.
package group
