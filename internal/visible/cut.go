package visible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// CutLeft and CutRight shorten s to so many cells by whole words, with mark in place of what goes:
// names lose their beginning, texts their end. A word is a run of letters, marks and digits, or
// one character of a script without spaces; only one that is wider than the cells is cut, on a
// grapheme. s must be safe to show.
func CutLeft(s string, cells int, mark string) string {
	if Width(s) <= cells {
		return s
	}
	for at := range s {
		if at > 0 && wordStart(s, at) && Width(s[at:])+Width(mark) <= cells {
			return mark + s[at:]
		}
	}
	return TruncateLeftWith(s, cells, mark)
}

// CutRight is described at [CutLeft].
func CutRight(s string, cells int, mark string) string {
	if Width(s) <= cells {
		return s
	}
	best := ""
	for at := range s {
		if at == 0 || !wordStart(s, at) && !wordEnd(s, at) {
			continue
		}
		part := strings.TrimRight(s[:at], " ")
		if Width(part)+Width(mark) > cells {
			break
		}
		best = part
	}
	if best == "" {
		return TruncateWith(s, cells, mark)
	}
	return best + mark
}

func wordStart(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	c, _ := utf8.DecodeRuneInString(s[at:])
	return isLetter(c) && (!isLetter(before) || alone(c) || alone(before)) && !unicode.IsMark(c)
}

func wordEnd(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	c, _ := utf8.DecodeRuneInString(s[at:])
	return isLetter(before) && !isLetter(c)
}

func isLetter(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) }

// alone reports whether a script writes no spaces between its words.
func alone(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
