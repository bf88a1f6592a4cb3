package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who finds nothing is told of words that begin so, and of a folder that was taken for a word.
func TestNothingFound(t *testing.T) {
	user := t.TempDir()
	chats := filepath.Join(user, "chats", "Mira")
	chat := `{"chat_metadata":{},"user_name":"unused","character_name":"unused"}
{"name":"Mira","is_user":false,"send_date":"2026-01-02T03:04:05.000Z","mes":"An astrolabe."}
`
	if err := os.MkdirAll(chats, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(chats, "A.jsonl"), []byte(chat), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(user)
	for want, query := range map[string][]string{
		"nothing found\n(exit 1)\n":                                                            {"sextant"},
		"nothing found; 'astrolab*' finds beginnings\n(exit 1)\n":                              {"astrolab"},
		"nothing found\nstchat: chats was taken for a word; the folder is ./chats\n(exit 1)\n": {"astrolabe", "chats"},
	} {
		got := screenOf(t, user, 80, "C.UTF-8", append([]string{"search"}, query...))
		if !strings.HasSuffix(got, want) {
			t.Errorf("search %q: got %q, want %q", query, got, want)
		}
	}
}
