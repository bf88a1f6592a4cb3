// Package patch changes one JSON value as the flags of meta set and message set
// ask: it sets and removes keys and pointers, merges objects in, and applies RFC 7386
// and RFC 6902 patches. Bytes that no change names stay as they are, and inserted values
// keep their own spelling, on one line.
//
// If an object repeats a key, the last occurrence counts, as in JSON.parse: setting
// changes that one, removing removes all of them.
package patch
