package main

import (
	"fmt"
	"strings"
)

// didYouMean returns the known word nearest to a mistyped one, after prefix, as the end
// of an error; "" if none is near.
func didYouMean(word string, known []string, prefix string) string {
	best, least := "", max(1, len(word)/3)+1 // with more typing errors than that it is another word
	for _, k := range known {
		d := distance(strings.ToLower(word), k)
		if len(word) > 1 && strings.HasPrefix(k, word) {
			d = 1
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", prefix+best)
}

// distance counts the bytes to insert, delete, change, or swap with the next one to
// turn a into b.
func distance(a, b string) int {
	var older, old []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older, old, row = old, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(old[j+1]+1, row[j]+1, old[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
