package metadiff

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Excerpts cuts two long texts to about limit characters each, around what
// differs, and names the length of what was cut: a person who reads that two
// recaps differ wants the sentence, not the recaps. Texts that fit stay whole.
// Where one of them is empty, nothing is on the other side, and the start of
// the text is shown.
func Excerpts(a, b string, limit int) (cutA, cutB string) {
	if b == "" || a == "" {
		return excerpt(a, 0, limit), excerpt(b, 0, limit)
	}
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	// some of what they have in common shows where the difference is
	context := limit / 4
	return excerpt(a, back(a, same, context), limit), excerpt(b, back(b, same, context), limit)
}

// back returns the place n characters before at.
func back(s string, at, n int) int {
	for ; at > 0 && n > 0; n-- {
		at--
		for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
			at--
		}
	}
	return at
}

// excerpt returns limit characters from start on, and the rest of the words at both ends.
func excerpt(s string, start, limit int) string {
	if len(s) <= limit {
		return s
	}
	length := utf8.RuneCountInString(s)
	if length <= limit {
		return s
	}
	// near the end, as much is shown as fits
	start = min(start, back(s, len(s), limit))
	end := start
	for n := 0; n < limit && end < len(s); n++ {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}

	const longest = 40 // bytes of a word that is shown whole
	if i := strings.LastIndexByte(s[max(0, start-longest):start], ' '); i >= 0 {
		start = max(0, start-longest) + i + 1
	}
	if i := strings.IndexByte(s[end:min(len(s), end+longest)], ' '); i >= 0 {
		end += i
	}
	var out strings.Builder
	if start > 0 {
		out.WriteString("…")
	}
	out.WriteString(s[start:end])
	if end < len(s) {
		out.WriteString("…")
	}
	fmt.Fprintf(&out, " (%d characters)", length)
	return out.String()
}
