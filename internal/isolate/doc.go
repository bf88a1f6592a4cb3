// Package isolate sets the extension state in a branch's metadata back to what it was
// at message N.
//
// SillyTavern copies chat_metadata whole into a branch, so the state in it is that
// of the end of the source: recaps of scenes the branch has not reached, images of
// messages it does not have. What is known of each extension is in a folder below
// package extension; what none knows stays as it is, and is reported.
//
// The work is in two steps. [Scan] reads the source's messages once, in parallel, and
// every extension notes the little it needs. [Facts.Apply] then edits the metadata. It
// touches only values that a rule covers; every other byte of the metadata stays.
//
// [Rename] edits what names a lorebook in the metadata when the book gets a new name, or
// the branch a clone of the book.
package isolate
