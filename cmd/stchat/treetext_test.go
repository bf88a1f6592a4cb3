package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTreeOnATerminal draws the demo as a person sees it.
func TestTreeOnATerminal(t *testing.T) {
	out, errs, code := terminal(t, 100, "tree", filepath.Join("..", "..", "testdata", "demo"))
	if code != 0 || errs != "" {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	clean(t, out, 100)
	out = ownColor.ReplaceAllString(out, "")
	for _, want := range []string{
		"chat                           fork  messages  own  first own message", "Maren Holm  4 chats, 1 family", "├─◆ Before the storm             23        24       ends there",
		"└─· … - Branch #1                40        44   +3  noted at 41", "  └─· … - Branch #2              42        46   +3",
		"└─? 2026-03-07 09:12 imported     4         5       a copy, computed", "◆ checkpoint  · branch  ? computed  ● open", "; 1 alone (--all)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	alone := t.TempDir() // a chat that no table shows
	if err := os.WriteFile(filepath.Join(alone, "a.jsonl"), []byte(`{"chat_metadata":{}}`+"\n"+`{"name":"Mira","mes":"a"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := terminal(t, 100, "tree", alone, "--color", "never"); out != "0 families, 0 chats; 1 alone (--all)\n" {
		t.Errorf("%s", out)
	}
}

// TestTreeIsHarmless shows a chat and its branch with hostile text wherever there may
// be some.
func TestTreeIsHarmless(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(hostileChat(t)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, width := range []int{0, 60, 200} {
		for _, args := range [][]string{{"--all"}, {"--json"}, {"--format", "html"}, {"--by", "content"}} {
			out, errs, code := terminal(t, width, append([]string{"tree", folder}, args...)...)
			if format := args[len(args)-1]; width > 0 && format == "html" {
				if code != 2 || !strings.Contains(errs, "is for a file") {
					t.Errorf("%q on a terminal: exit %d\n%s", args, code, errs)
				}
				continue
			}
			if code != 0 {
				t.Fatalf("%q: exit %d\n%s", args, code, errs)
			}
			if args[0] == "--all" {
				clean(t, out, width)
			}
			for _, text := range []string{out, errs} {
				if strings.ContainsAny(ownColor.ReplaceAllString(text, ""), "\x1b\x00\a\u202e\u2066\u200f\u009b") {
					t.Errorf("%q at %d cells drives the terminal: %q", args, width, text)
				}
			}
		}
	}
}

// TestTablesTellApart: at any width the rows of a chat, its branch, and another
// chat of the same day differ, although their names begin alike.
func TestTablesTellApart(t *testing.T) {
	const name = "Captain Maren Holm of the Gull Rock light - 2026-03-01@18h42m07s"
	folder := t.TempDir()
	for file, header := range map[string]string{
		name + "311ms":             `{}`,
		name + "311ms - Branch #1": `{"main_chat":"` + name + `311ms"}`,
		name + "311ms - Branch #2": `{"main_chat":"` + name + `311ms"}`,
		name + "999ms":             `{}`,
	} {
		text := `{"chat_metadata":` + header + `,"user_name":"unused","character_name":"unused"}` + "\n" + `{"name":"Maren","is_user":false,"mes":"Come in.","send_date":"2026-03-01T18:42:07.311Z"}`
		if err := os.WriteFile(filepath.Join(folder, file+".jsonl"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, width := range []int{60, 80, 100, 120} {
		for _, args := range [][]string{{"tree", "--all"}, {"list"}} {
			out, errs, code := terminal(t, width, append(args, folder)...)
			if code != 0 || errs != "" {
				t.Fatalf("%q: exit %d\n%s", args, code, errs)
			}
			clean(t, out, width)
			for _, end := range []string{"311ms ", "999ms ", "Branch #1 ", "Branch #2 "} {
				if !strings.Contains(ownColor.ReplaceAllString(out, " "), end) {
					t.Errorf("%q at %d cells: no %q in\n%s", args, width, end, out)
				}
			}
		}
	}
}
