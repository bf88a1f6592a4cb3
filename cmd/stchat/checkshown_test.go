package main

import (
	"os"
	"strings"
	"testing"
)

// TestWorstFirst: of one chat, the errors come before the warnings, so that they are
// not among what is left out of a long list.
func TestWorstFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	const torn = `{"user_name":"Me","character_name":"Mira","chat_metadata":{"main_chat":"gone"}}
{"name":"Mira","is_user":false,"mes":"Hello."}
{"name":"Mira","is_user":false,"mes":"Hel
`
	if err := os.MkdirAll("chats/Mira", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("chats/Mira/torn.jsonl", []byte(torn), 0o644); err != nil {
		t.Fatal(err)
	}

	out, errs, code := terminal(t, 100, "check", "chats/Mira/torn.jsonl")
	worst := strings.Index(out, "torn-tail: line 3")
	least := strings.Index(out, "dangling-main-chat: line 1")
	if code != 1 || worst < 0 || least < worst {
		t.Errorf("exit code %d, the error at %d, the warning at %d; stdout:\n%s\nstderr:\n%s", code, worst, least, out, errs)
	}
}

// TestFolderIsNamed: a chat in the current folder stands under the name of that folder.
func TestFolderIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("chats/Mira", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("chats/Mira/torn.jsonl", []byte(`{"chat_metadata":{"main_chat":"gone"}}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir("chats/Mira")
	out, errs, _ := terminal(t, 100, "check", "torn.jsonl", "--color", "never")
	if !strings.Contains(out, "\nMira\n") || strings.Contains(out, "\n.\n") {
		t.Errorf("%s%s", out, errs)
	}
}
