// Package names makes the names that checkpoints and branches get.
//
// A chat's name is its file's name without ".jsonl", and it is also what
// main_chat, bookmark_link, branches and a group's list say. So a name has to be
// right everywhere at once: [Sanitize] makes one safe exactly as SillyTavern's
// server does, and [Make] builds a whole one in a given [Style] and [Kind] and
// looks for one that is free. Names come from people and from strangers' files;
// what this package returns is valid UTF-8, never empty, never a path, never a
// device of Windows, and with ".jsonl" at most 255 bytes long.
//
// The package touches no disk: what is taken is asked of the caller. It does not
// normalise Unicode, since SillyTavern does not.
package names
