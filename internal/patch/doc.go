// Package patch changes one JSON value as the flags of SPEC.md 1.3 and CONTENT.md 1.2
// ask: keys and pointers that are set or removed, objects merged in, RFC 7386 and
// RFC 6902 patches. Bytes that no change names stay as they are, and values that are
// put in keep their own spelling, on one line.
//
// Where an object repeats a key, the last occurrence is the one that counts, as in
// JSON.parse: setting changes it, removing takes all of them out.
package patch
