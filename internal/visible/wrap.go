package visible

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Signs that no line begins with, and that none ends with (READING.md 1.2).
const (
	closing = "。、，．！？：；」』）】》ー…"
	opening = "「『（【《"
)

// Wrap returns where the lines of s begin and end that take at most so many cells. A line breaks
// at spaces, which are left out there, or between wide characters; only a word that is wider than
// a line is cut, on a grapheme. s must be safe to show and without line feeds.
func Wrap(s string, cells int) [][2]int {
	cells = max(cells, 1)
	var lines [][2]int
	from, width := 0, 0        // of the open line
	end, next, rest := 0, 0, 0 // the last place to break: where the line ends, the next begins, and the width before it
	wide := false              // the last grapheme
	last := ' '                // its letter
	g := graphemes.FromString(s)
	for g.Next() {
		part, at := g.Value(), g.Start()
		w := Width(part)
		first, _ := utf8.DecodeRuneInString(part)
		switch {
		case part == " ":
		case last == ' ' && at > from && strings.TrimLeft(s[from:at], " ") != "":
			end, next, rest = from+len(strings.TrimRight(s[from:at], " ")), at, width
		case wide && w == 2 && !strings.ContainsRune(closing, first) && !strings.ContainsRune(opening, last):
			end, next, rest = at, at, width
		}
		if width+w > cells && part != " " && at > from {
			if next <= from {
				end, next, rest = at, at, width
			}
			lines = append(lines, [2]int{from, end})
			from, width = next, width-rest
		}
		width += w
		wide, last = w == 2, first
	}
	return append(lines, [2]int{from, from + len(strings.TrimRight(s[from:], " "))})
}
