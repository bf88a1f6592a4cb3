package visible

import "unicode/utf8"

// ToUTF8 returns the bytes of a file as UTF-8: what is not UTF-8 becomes U+FFFD, as
// when JavaScript reads the file. It returns b itself if that is UTF-8.
func ToUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return ReplaceInvalid(string(b), InvalidLen)
}

// ReplaceInvalid replaces what is not UTF-8 by U+FFFD; length returns how many bytes
// each replaces.
func ReplaceInvalid(s string, length func(string) int) []byte {
	out := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			size = length(s[i:])
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	return out
}

// InvalidLen returns how many bytes at the start of s, which are not UTF-8, together
// become one U+FFFD: the start of an incomplete character becomes one, any other
// byte becomes one by itself. Browsers and Node decode like this (WHATWG Encoding,
// UTF-8 decoder; Unicode calls it the maximal subpart).
func InvalidLen[T string | []byte](s T) int {
	if len(s) < 2 {
		return len(s)
	}

	var longest int // the bytes of the character without its last
	first := s[0]
	switch {
	case first >= 0xe0 && first <= 0xef:
		longest = 2
	case first >= 0xf0 && first <= 0xf4:
		longest = 3
	default:
		return 1 // an incomplete character of two bytes, or no start of one
	}

	// some second bytes would spell a character that has a shorter spelling, or that does not exist
	low, high := byte(0x80), byte(0xbf)
	switch first {
	case 0xe0:
		low = 0xa0
	case 0xed:
		high = 0x9f
	case 0xf0:
		low = 0x90
	case 0xf4:
		high = 0x8f
	}

	n := 1
	for n < min(len(s), longest) && s[n] >= low && s[n] <= high {
		n++
		low, high = 0x80, 0xbf
	}
	return n
}
