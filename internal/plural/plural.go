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
