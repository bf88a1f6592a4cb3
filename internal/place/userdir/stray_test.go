package userdir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/place/userdir"
)

// What is named like a chat and lies where SillyTavern looks for none is found, and nothing else.
func TestStrayChats(t *testing.T) {
	root := t.TempDir()
	isStray := map[string]bool{
		"chats/X.jsonl":                      true,
		"chats/Mira/A.jsonl":                 false,
		"chats/Mira/note.txt":                false,
		"chats/Mira/old/A.JSONL":             true,
		"chats/Mira/old/older/A.jsonl":       true,
		"chats/Mira/backups/A.jsonl":         false,
		"chats/.stchat/A.jsonl":              false,
		"group chats/G.jsonl":                false,
		"group chats/New folder/G.jsonl":     true,
		"group chats/New folder/chats.json":  false,
		"group chats/New folder/a/b/G.jsonl": true,
		"worlds/X.jsonl":                     false,
		"X.jsonl":                            false,
	}
	for name := range isStray {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"chats/X.jsonl", "chats/Mira/old/A.JSONL", "chats/Mira/old/older/A.jsonl", "group chats/New folder/G.jsonl", "group chats/New folder/a/b/G.jsonl"}
	var got []string
	for _, path := range (userdir.Dir{Root: root}).StrayChats() {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
		if dir, ok := userdir.AroundStray(path); !ok || dir.Root != root {
			t.Errorf("%s: in the folder %q, %v", rel, dir.Root, ok)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range []string{"chats/Mira/A.jsonl", "group chats/G.jsonl", "worlds/X.jsonl", "X.jsonl"} {
		if dir, ok := userdir.AroundStray(filepath.Join(root, filepath.FromSlash(name))); ok {
			t.Errorf("%s: a stray of %q", name, dir.Root)
		}
	}
}

// A folder that is only called chats is no user's.
func TestAroundStrayOfNobody(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "chats"), 0o777); err != nil {
		t.Fatal(err)
	}
	if dir, ok := userdir.AroundStray(filepath.Join(root, "chats", "A.jsonl")); ok {
		t.Errorf("in %q", dir.Root)
	}
}
