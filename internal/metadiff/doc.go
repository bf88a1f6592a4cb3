// Package metadiff compares two JSON objects, the metadata of two chats, and
// returns the differences as a list of changes, as a JSON Patch (RFC 6902) and
// as a JSON Merge Patch (RFC 7386). Each of the patches turns the first object
// into the second.
//
// Values compare as SillyTavern reads them: an object's keys in any order, the
// last of repeated keys, strings decoded, and numbers as exact decimals, so
// that 1.0 is 1 and 9007199254740993 is not 9007199254740992, although both
// are one number to JavaScript.
//
// Members are compared by key, the elements of lists by position, behind a common start
// and before a common end. Of the two objects' members only those are decoded whose bytes
// differ.
//
// The package reads and writes no files and does not know what any key means,
// except for [Diff.Meanings].
package metadiff
