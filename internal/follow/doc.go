// Package follow keeps a chat's state in step with its messages when messages are removed,
// inserted, hidden or shown. State is what SillyTavern and extensions keep,
// in chat_metadata and in the messages themselves, that refers to messages by index.
//
// SillyTavern itself does none of this: deleting a message in the app leaves every index
// behind it off by one. A [Change] says what happens; [Look] reads the chat once and
// finds what refers to what; [State.Metadata] and [State.Line] then make the edits. State
// whose meaning is unknown is left alone.
package follow
