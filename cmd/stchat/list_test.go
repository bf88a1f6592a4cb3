package main

import (
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/text/visible"
)

// TestListOnATerminal: a list of Chinese and Japanese names is aligned.
func TestListOnATerminal(t *testing.T) {
	inUTC(t)
	t.Chdir(t.TempDir())
	date := `"send_date":"2026-01-02T03:04:05.000Z"`
	writeFile(t, "chats/汐見 栞/枝 - Branch #1.jsonl", `{"chat_metadata":{"main_chat":"潮"}}`+"\n"+`{"mes":"a",`+date+`}`)
	writeFile(t, "chats/Mira/a.jsonl", `{"chat_metadata":{}}`+"\n"+`{"mes":"a",`+strings.Replace(date, "-01-", "-02-", 1)+`}`)
	out, errs, code := terminal(t, 80, "list", "--color", "never")
	want := `chat              messages  size  last message      owner
  a                      1  71 B  2026-02-02 03:04  Mira
  枝 - Branch #1         1  88 B  2026-01-02 03:04  汐見 栞
2 chats, 2 messages, 159 B
`
	if out != want || errs != "" || code != 0 {
		t.Errorf("exit %d, %s, the list is\n%s\nwant\n%s", code, errs, out, want)
	}
}

// TestListOnNarrowTerminals: a chat and what was made of it can be told apart, and a group's chats have
// its name beside them.
func TestListOnNarrowTerminals(t *testing.T) {
	inUTC(t)
	demo := filepath.Join("..", "..", "testdata", "demo")
	for width := 60; width <= 120; width += 20 {
		out, errs, code := terminal(t, width, "list", "--color", "never", demo)
		if code != 0 || errs != "" {
			t.Fatalf("exit %d, %s", code, errs)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(out) {
			name, _, _ := strings.Cut(strings.TrimLeft(line, " "), "   ")
			if seen[name] {
				t.Errorf("%d cells: %q stands there twice:\n%s", width, name, out)
			}
			seen[name] = true
			if got := visible.Width(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("%d cells: a line of %d: %s", width, got, line)
			}
		}
		for _, want := range []string{" - Branch #1", "Supper at the light"} {
			if !strings.Contains(out, want) {
				t.Errorf("%d cells: no %q in\n%s", width, want, out)
			}
		}
	}
}

// TestListIsHarmless lists chats with hostile text wherever there may be some.
func TestListIsHarmless(t *testing.T) {
	user := t.TempDir()
	for _, name := range []string{"c.jsonl", "d.jsonl"} {
		writeFile(t, filepath.Join(user, "chats", "Mira", name), hostileChat(t))
	}
	writeFile(t, filepath.Join(user, "groups", "7.json"), `{"id":"7","name":`+string(mustJSON(t, hostile))+`,"chats":["g"]}`)
	writeFile(t, filepath.Join(user, "group chats", "g.jsonl"), hostileChat(t))
	for _, command := range []string{"list", "inspect"} {
		for _, width := range []int{0, 20, 40, 80, 200} {
			out, errs, code := terminal(t, width, command, user)
			if code != 0 || out == "" {
				t.Fatalf("exit %d: %s%s", code, out, errs)
			}
			clean(t, strings.ReplaceAll(out, user, "USER"), width)
			clean(t, strings.ReplaceAll(errs, user, "USER"), 0)
		}
	}
}

// TestTablesThroughAPager: --color always keeps a table in a pipe, which has lines with tabs otherwise.
func TestTablesThroughAPager(t *testing.T) {
	demo := filepath.Join("..", "..", "testdata", "demo")
	for command, title := range map[string]string{"list": "chat", "inspect": "owner"} {
		out, _, code := terminal(t, 0, command, "--color", "always", demo)
		if code != 0 || !strings.Contains(out, "\x1b[1m"+title+"\x1b[0m ") || strings.Contains(out, "\t") {
			t.Errorf("%s: exit %d\n%s", command, code, out)
		}
		if out, _, _ := terminal(t, 0, command, demo); strings.Contains(out, "\x1b") || !strings.Contains(out, "\t") {
			t.Errorf("%s in a pipe\n%s", command, out)
		}
	}
}
