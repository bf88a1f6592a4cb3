// Package names makes the names that checkpoints and branches get.
//
// A chat's name is its file's name without ".jsonl", and it is also what
// main_chat, bookmark_link, branches and a group's list say. So a name must work
// everywhere at once: [Sanitize] makes one safe exactly as SillyTavern's server
// does, and [Make] builds a whole one of a given [Kind] in a given [Style] that
// is free. Names come from people and from strangers' files; what this package
// returns is valid UTF-8, never empty, never a path, never a device of Windows,
// and with ".jsonl" at most 255 bytes long.
//
// The package does not access the disk: the caller reports which names are
// taken. It does not normalise Unicode, since SillyTavern does not.
package names
