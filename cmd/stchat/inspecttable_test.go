package main

import (
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/text/visible"
)

// TestInspectTableOnNarrowTerminals: a chat and what was made of it can be told
// apart, and a group's chats stand below its name.
func TestInspectTableOnNarrowTerminals(t *testing.T) {
	inUTC(t)
	demo := filepath.Join("..", "..", "testdata", "demo")
	for width := 60; width <= 120; width += 20 {
		out, errs, code := terminal(t, width, "inspect", "--color", "never", demo)
		if code != 0 || errs != "" {
			t.Fatalf("exit %d, %s", code, errs)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(out) {
			name, _, _ := strings.Cut(line, "   ")
			if seen[name] {
				t.Errorf("%d cells: %q stands there twice:\n%s", width, name, out)
			}
			seen[name] = true
			if got := visible.Width(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("%d cells: a line of %d: %s", width, got, line)
			}
		}
		for _, want := range []string{" - Branch #1 ", "group chats: Supper at the light"} {
			if !strings.Contains(out, want) {
				t.Errorf("%d cells: no %q in\n%s", width, want, out)
			}
		}
	}
}

// TestInspectTableThroughAPager: --color always keeps the table in a pipe.
func TestInspectTableThroughAPager(t *testing.T) {
	demo := filepath.Join("..", "..", "testdata", "demo")
	out, _, code := terminal(t, 0, "inspect", "--color", "always", demo)
	if code != 0 || !strings.Contains(out, "\x1b[1mchat\x1b[0m ") || !strings.Contains(out, "└ ") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, _, _ := terminal(t, 0, "inspect", demo); strings.Contains(out, "└ ") || !strings.Contains(out, "\t") {
		t.Errorf("in a pipe\n%s", out)
	}
}
