package names

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold returns name without distinctions of letter case, by Unicode's simple
// folding: two names with the same fold are one file on a disk that ignores case.
// Bytes that are not UTF-8 stay as they are.
func Fold(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteByte(name[i])
		} else {
			b.WriteRune(foldRune(r))
		}
		i += size
	}
	return b.String()
}

// foldRune returns the one rune that represents all that differ from r only in case:
// the smallest of its orbit, in lower case if it is ASCII.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		// Every orbit through ASCII has an ASCII letter in it.
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least >= 'A' && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
