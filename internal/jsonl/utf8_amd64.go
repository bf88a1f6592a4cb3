//go:build !purego

package jsonl

import (
	"unicode/utf8"

	"golang.org/x/sys/cpu"
)

// validUTF8 is utf8.Valid, with AVX2 where the processor has it.
func validUTF8(p []byte) bool {
	if !cpu.X86.HasAVX2 {
		return utf8.Valid(p)
	}
	n := len(p) &^ 31
	if n > 0 && !validUTF8Wide(p[:n]) {
		return false
	}
	// check the rest, from the last character on, which may be cut, padded with
	// zeros
	if n > 0 {
		for n--; n > 0 && !utf8.RuneStart(p[n]); n-- {
		}
	}
	var rest [64]byte
	copy(rest[:], p[n:])
	return validUTF8Wide(rest[:])
}

// validUTF8Wide reports whether p, a multiple of 32 bytes, is valid UTF-8,
// except that its end may cut a character. It needs AVX2. The algorithm is that
// of Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte"
// (2021): three table look-ups by nibbles find every wrong pair of bytes.
//
//go:noescape
func validUTF8Wide(p []byte) bool
