// Package show is the room of what a person looks at: tables, trees of chats, the text of a message as
// SillyTavern shows it, pictures in pages, and reports of findings.
//
// What lies here takes values and writes text, HTML or a report of them. Untrusted text comes out
// safe: nothing that a chat holds drives a terminal or runs in a page, and a page needs no network.
//
// It knows no commands and flags, finds no chats, and changes no files.
package show
