// Package place is the room of where SillyTavern puts things and what it calls them: the user folder
// (userdir), names of chats and files (names), and the shapes of dates (sendate).
//
// A name that comes from a chat is a stranger's text: what is returned here as a path never leaves
// the folder that it belongs to.
//
// It reads folders, but no contents of files, and changes nothing.
package place
