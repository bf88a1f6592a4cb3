package changeset_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
)

// TestFolderHalfMade changes a file where another run has just made .stchat, or was killed
// then: the folder gets its .gitignore, and the old file is kept by a link as ever.
func TestFolderHalfMade(t *testing.T) {
	dir := world(t, map[string]string{"chats/M/0.jsonl": "old"})
	if err := os.Mkdir(filepath.Join(dir, ".stchat"), 0o700); err != nil {
		t.Fatal(err)
	}
	chat := filepath.Join(dir, "chats", "M", "0.jsonl")
	before, err := safefile.StampPath(chat)
	if err != nil {
		t.Fatal(err)
	}
	if !hasLinks(t) {
		t.Skip("no hard links here")
	}
	run(t, changeset.Options{}, changeset.Unit{Root: dir, Draft: func(_ context.Context, s *changeset.Set) error {
		return s.Edit(chat, safefile.Stamp{}, appendText(" and new"), "the chat")
	}})
	if _, err := os.Stat(filepath.Join(dir, ".stchat", ".gitignore")); err != nil {
		t.Error(err)
	}
	kept, err := filepath.Glob(filepath.Join(dir, ".stchat", "*-1"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept: %q, %v", kept, err)
	}
	after, err := safefile.StampPath(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	if !before.SameFile(after) {
		t.Error("what was kept is a copy")
	}
}

// hasLinks reports whether the folder of the test has hard links.
func hasLinks(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	if err := os.WriteFile(a, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return os.Link(a, filepath.Join(dir, "b")) == nil
}
