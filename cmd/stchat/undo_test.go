package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On a terminal the story is a table that fits; commands are cut, and paths in the folder are
// relative to it.
func TestUndoTable(t *testing.T) {
	user := t.TempDir()
	chat := filepath.Join(user, "chats", "Mira", "a.jsonl")
	if err := os.MkdirAll(filepath.Dir(chat), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(chat, []byte("{\"chat_metadata\":{}}\n{\"name\":\"Mira\",\"mes\":\"0\"}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", strings.Repeat("日本語", 20), "a\x1b[2Jb"} {
		if _, errs, code := terminal(t, 0, "branch", chat, "--at", "0", "-n", name); code != 0 {
			t.Fatal(errs)
		}
	}
	if _, errs, code := terminal(t, 0, "undo", "--data", user); code != 0 {
		t.Fatal(errs)
	}
	for _, width := range []int{72, 80, 120, 400} {
		out, errs, code := terminal(t, width, "log", "--commands", "--data", user)
		if code != 0 {
			t.Fatal(errs)
		}
		clean(t, out, width)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if len(lines) != 5 || strings.Contains(lines[0], "stchat") || !strings.Contains(lines[4], "1 chat") {
			t.Errorf("%d:\n%s", width, out)
		}
		if width == 400 && (!strings.Contains(out, "(undone) stchat branch "+filepath.Join("chats", "Mira", "a.jsonl")) || strings.Contains(out, user)) {
			t.Error(out)
		}
	}
}
