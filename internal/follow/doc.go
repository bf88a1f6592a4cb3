// Package follow keeps a chat's state in step with its messages when some go, come, are
// hidden or shown (CONTENT.md 3): what SillyTavern and extensions hold that refers to
// messages by their index, in chat_metadata and in the messages themselves.
//
// SillyTavern itself does none of this: deleting a message in the app leaves every index
// behind it off by one. A [Change] says what happens; [Look] reads the chat once and
// finds what refers to what; [State.Metadata] and [State.Line] then make the edits. What
// nobody knows the meaning of is left alone.
package follow
