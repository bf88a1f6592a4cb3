// Package plural counts things in English, for messages that people read.
package plural

import "strconv"

// Of returns "1 entry" or "3 entries" from the two forms of the word.
func Of(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// S is [Of] for a word whose plural is made with an s.
func S(n int, one string) string { return Of(n, one, one+"s") }

// Many is [S] with commas between thousands.
func Many(n int, one string) string {
	if n == 1 {
		return S(n, one)
	}
	return Grouped(n) + " " + one + "s"
}

// Grouped returns a number with commas between thousands.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
