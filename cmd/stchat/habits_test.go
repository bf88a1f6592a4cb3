package main

import (
	"slices"
	"strings"
	"testing"
)

// TestHabits: what is no command leads to one, and no command is taken for a habit.
func TestHabits(t *testing.T) {
	var known []string
	for _, v := range verbs() {
		known = append(known, v.name)
	}
	seen := map[string]bool{}
	for _, h := range habits() {
		if (h.runs == "") == (h.line == "") {
			t.Errorf("%s: either a command runs, or a line is named", h.words)
		}
		command := strings.Fields(strings.TrimPrefix(h.runs+h.line, "stchat "))[0]
		if !slices.Contains(known, command) {
			t.Errorf("%s: there is no command %q", h.words, command)
		}
		for word := range strings.FieldsSeq(h.words) {
			if slices.Contains(known, word) || seen[word] {
				t.Errorf("%q is a command, or another habit", word)
			}
			seen[word] = true

			args, runs := accustomed([]string{word, "a", "-x"})
			switch {
			case h.runs == "" && (runs != "" || args[0] != word):
				t.Errorf("%s runs %q", word, args)
			case h.runs != "" && (args[0] != command || !slices.Contains(args, "a") || !slices.Contains(args, "-x")):
				t.Errorf("%s runs %q", word, args)
			}
		}
	}
}
