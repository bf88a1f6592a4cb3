package rawjson

import "unicode/utf8"

// invalidLen returns how many of the bytes that s begins with, which are not
// UTF-8, make one U+FFFD together: the start of a character that breaks off is one,
// any other byte is one by itself. So browsers and Node decode (WHATWG Encoding,
// UTF-8 decoder; Unicode calls it the maximal subpart).
func invalidLen[T string | []byte](s T) int {
	if len(s) < 2 {
		return len(s)
	}
	var rest int                        // bytes to come
	low, high := byte(0x80), byte(0xbf) // bounds of the next one
	switch c := s[0]; {
	case c >= 0xe0 && c <= 0xef:
		rest = 2
	case c >= 0xf0 && c <= 0xf4:
		rest = 3
	default:
		return 1 // of two bytes only the first is there, or it begins nothing
	}
	switch s[0] {
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
	for n < len(s) && n < rest && s[n] >= low && s[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}

// WellFormed returns s as UTF-8: a lone surrogate (see the package comment) and what
// is not UTF-8 become U+FFFD, as they do on their way out of JavaScript.
func WellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(replaceInvalid(s, func(s string) int {
		if _, ok := surrogateAt(s); ok {
			return 3
		}
		return invalidLen(s)
	}))
}

// ToUTF8 returns the bytes of a file as UTF-8: what is not becomes U+FFFD, as
// JavaScript reads the file.
func ToUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return replaceInvalid(string(b), invalidLen)
}

// replaceInvalid puts U+FFFD in place of what is not UTF-8; length says of how many
// bytes each is.
func replaceInvalid(s string, length func(string) int) []byte {
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
