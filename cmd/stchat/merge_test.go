package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMergeRoot(t *testing.T) {
	user := filepath.Join(t.TempDir(), "user")
	for _, folder := range []string{"chats/Dr. No", "groups"} {
		if err := os.MkdirAll(filepath.Join(user, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, into := range []string{".", "chats/Dr. No", "chats/Dr. No/A.jsonl", "groups/1.json"} {
		if got := mergeRoot(filepath.Join(user, into)); got != user {
			t.Errorf("%s: paths are shown from %s", into, got)
		}
	}
}
