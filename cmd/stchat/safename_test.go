package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSafeNameOnATerminal: a person reads in the block of a command what became of a name that no file can
// have, and on stderr nothing of it.
func TestSafeNameOnATerminal(t *testing.T) {
	user := t.TempDir()
	if err := os.CopyFS(user, os.DirFS(filepath.Join("..", "..", "testdata", "demo"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(user)
	for _, args := range [][]string{
		{"rename", "Maren Holm/Before the storm", "What if?"},
		{"rename", "worlds/Saltmere.json", "What if?"},
		{"new", "Maren Holm", "-n", "What if?"},
		{"copy", "Maren Holm/@", "What if?"},
		{"join", "Maren Holm/@", "Maren Holm/Before the storm", "-n", "What if?"},
		{"branch", "Maren Holm/@", "3", "What if?"},
		{"split", "Maren Holm/@", "--last", "3", "-n", "What if?"},
	} {
		out, errs, code := terminal(t, 80, append(args, "--dry-run")...)
		isSaid := strings.Contains(out, `"What if", since no file can be called "What if?"`)
		isRenamed := strings.Contains(out, `to "What if?"`)
		if !isSaid || isRenamed || strings.Contains(errs, "What if?") || code != 0 {
			t.Errorf("%q, exit %d:\n%s%s", args, code, out, errs)
		}
	}
}
