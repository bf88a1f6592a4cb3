package main

import (
	"strings"
	"testing"
)

// TestWithoutOutput: the line to copy has all that was typed but -o and its value.
func TestWithoutOutput(t *testing.T) {
	for line, want := range map[string]string{
		"export C 0..3 -o x.epub":           "export C 0..3",
		"export -o x.epub C --reasoning":    "export C --reasoning",
		"export C --output x.epub 3":        "export C 3",
		"export C --output=x.epub":          "export C",
		"export C -ox.epub":                 "export C",
		"export C":                          "export C",
		"export C -o":                       "export C",
		"export C --open-links -o x.epub 1": "export C --open-links 1",
	} {
		if got := strings.Join(withoutOutput(strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
