// Package isolate gives a branch's metadata the extension state that the chat had
// at message N.
//
// SillyTavern copies chat_metadata whole into a branch, so the state in it is that
// of the end of the source: recaps of scenes the branch has not reached, images of
// messages it does not have. For each program whose state is understood there is
// an [Adapter], one file each, whose comment names the rule of FORMATS.md it follows;
// [Adapters] lists them. What no adapter knows stays as it is, and that is said.
//
// The work is in two steps. [Scan] goes over the source's messages once, in
// parallel, and every adapter notes the little it needs. [Facts.Apply] then edits
// the metadata. Only values that a rule speaks of are touched; every other byte of
// the metadata stays.
//
// [Follow] is about the lorebook: what in the metadata names a book, when the branch
// gets a clone of it.
package isolate
