//go:build !amd64 || purego

package jsonl

import "unicode/utf8"

// validUTF8 is utf8.Valid: there is nothing faster here.
func validUTF8(p []byte) bool { return utf8.Valid(p) }
