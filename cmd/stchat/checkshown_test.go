package main

import (
	"fmt"
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

// TestFindingLines: a person sees 40 lines of findings, in which chats are called as in tables, and one command
// at the end.
func TestFindingLines(t *testing.T) {
	t.Chdir(t.TempDir())
	parent := "Mira - 2026-03-01@18h42m07s311ms"
	writeFile(t, "chats/Mira/"+parent+".jsonl", `{"chat_metadata":{"integrity":"a"}}`+"\n"+`{"name":"Mira","is_user":false,"mes":"Hello."}`+"\n")
	for i := range 60 {
		name := fmt.Sprintf("chats/Mira/copy %d.jsonl", i)
		writeFile(t, name, fmt.Sprintf(`{"chat_metadata":{"main_chat":%q,"integrity":"%d"}}`, parent, i)+"\n"+`{"name":"Mira","is_user":false,"mes":"Hello."}`+"\n")
	}

	out, errs, code := terminal(t, 80, "check", ".", "--color", "never")
	verdict, rest, _ := strings.Cut(out, "\n\n")
	findings, rest, _ := strings.Cut(rest, "and ")
	if n := strings.Count(findings, "\n"); code != 0 || verdict != "60 infos in 60 of 61 chats" || n > 40 || n < 38 {
		t.Errorf("exit %d, %d lines; stdout:\n%s\nstderr:\n%s", code, n, out, errs)
	}
	shown := strings.Count(findings, "unlisted-branch")
	left := fmt.Sprintf("%d more (-v)\n", 60-shown)
	if !strings.HasPrefix(rest, left) || strings.Contains(findings, "@18h42m") || !strings.Contains(findings, `the parent "2026-03-01`) {
		t.Errorf("%d findings are shown:\n%s", shown, out)
	}

	whole, _, _ := terminal(t, 80, "check", ".", "--color", "never", "-v")
	if n := strings.Count(whole, "unlisted-branch: line 1"); n != 60 {
		t.Errorf("with -v %d findings:\n%s", n, whole)
	}
}

// TestOneCommand: of several commands that fix by hand, the first is named, at the end.
func TestOneCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "settings.json", "{}")
	writeFile(t, "worlds/Sea.json", `{"entries":{"0":{"uid":0,"comment":"_registry_character","key":[],"content":"[]"}}}`)
	for _, name := range []string{"a", "b"} {
		writeFile(t, "chats/Mira/"+name+".jsonl", fmt.Sprintf(`{"chat_metadata":{"world_info":"Sea","integrity":%q,"auto_lorebooks":{"enabled":true}}}`, name)+"\n"+`{"name":"Mira","is_user":false,"mes":"Hello."}`+"\n")
	}

	out, errs, _ := terminal(t, 80, "check", ".", "--color", "never", "--rule", "lorebook-shared-state")
	before, command, found := strings.Cut(out, "for the first of them: ")
	if !found || strings.Contains(before, "stchat clone-lorebook") || strings.Count(command, "\n") != 1 {
		t.Errorf("stdout:\n%s\nstderr:\n%s", out, errs)
	}
}
