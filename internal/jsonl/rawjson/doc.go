// Package rawjson reads and edits one JSON value as the bytes it is written in.
//
// A chat file belongs to its owner, and stchat promises to change only what it
// was asked to change. Decoding a value and encoding it again breaks that
// promise: numbers lose their spelling, lone surrogates become U+FFFD, repeated
// keys vanish and the order of keys may change. So this package never builds a
// tree. It finds a value's place in the bytes, and an edit is a splice: every
// byte outside the edited value stays.
//
// # Keys
//
// Keys are literal: a dot, a star or a quote in a key is part of the key. They
// compare decoded, so "a" and "\u0061" are one key. If an object repeats a key,
// the last occurrence counts, as JSON.parse reads it.
//
// # Input
//
// The input is assumed to be valid JSON; callers must validate bytes from
// strangers first. Invalid bytes never cause a panic or an endless loop, but
// what is found in them is unspecified. Nothing here recurses into the input,
// so nesting depth is no danger.
//
// # Strings
//
// Go strings given and returned are UTF-8, except that a lone surrogate, which
// JSON can spell (\ud800) and UTF-8 cannot, is held as its three WTF-8 bytes.
// [Quote] and [Unquote] are inverses on such strings.
package rawjson
