// Package change is the room of files that come to be, change and go: several together, with a journal,
// recovery, undo and the lock (changeset), and one at a time (safefile).
//
// Nothing else in the program makes, changes, renames or removes a file of the user. A file is
// whole at every moment, nothing is overwritten that was not read before, and what a call did can
// be undone.
//
// It knows paths and bytes. What a chat is, and whether a change is right, is decided above.
package change
