// Package isolate sets the extension state in a branch's metadata back to what it was
// at message N.
//
// SillyTavern copies chat_metadata whole into a branch, so the state in it is that
// of the end of the source: recaps of scenes the branch has not reached, images of
// messages it does not have. Each program whose state is understood has an [Adapter]
// in a file of its own, whose comment names the rule of FORMATS.md it follows;
// [Adapters] lists them. What no adapter knows stays as it is, and is reported.
//
// The work is in two steps. [Scan] reads the source's messages once, in parallel, and
// every adapter notes the little it needs. [Facts.Apply] then edits the metadata. It
// touches only values that a rule covers; every other byte of the metadata stays.
//
// [Follow] edits what names a lorebook in the metadata when the branch gets a clone of
// the book.
package isolate
