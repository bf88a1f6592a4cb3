package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stchat/internal/text/visible"
)

// unevenChat writes a chat whose texts are hard to lay out.
func unevenChat(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "chats", "灯台守 "+strings.Repeat("長", 40))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lines := []string{`{"user_name":"unused","character_name":"unused","chat_metadata":{}}`}
	for i, text := range []string{
		`「灯台守は、まだ来ない。」と彼女は言った。**それ**から、灯りを消した。`,
		`*She waits.* \"Nothing,\" she says. ` + strings.Repeat("word ", 60),
		strings.Repeat("unbroken", 40), `👩‍👩‍👧‍👦👩‍👩‍👧‍👦 family 👩‍👩‍👧‍👦`,
		`&#27;]52;c;x&#7; &#x202E;abc \u001b[2J \u202e`, `> deep\n>> deeper\n- item\n  - ` + strings.Repeat("below ", 30), "```js\\nlet x = 1;\\tlong\\n```",
		``, `<!-- pic prompt=\"gone\" -->`, `| a | b |\n|---|---|\n| 日本 | x |`,
	} {
		lines = append(lines, fmt.Sprintf(`{"name":"N\u001b[31m%d","is_user":%v,"is_system":%v,"send_date":"2026-03-0%dT10:00:00.000Z","mes":"%s","swipe_id":1,"swipes":["x","%[5]s"],"extra":{"reasoning":"thinking hard about it","bookmark_link":"cp %[5]s"}}`,
			i, i%2 == 1, i == 3, i/4+1, text))
	}
	path := filepath.Join(dir, "chat.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReadFits: no line of the reading view is wider than the terminal or ends in a space, nothing in it drives
// the terminal, and colour changes nothing but that the marks are hidden.
func TestReadFits(t *testing.T) {
	inUTC(t)
	paths := []string{unevenChat(t)}
	demo, err := filepath.Glob(filepath.Join("..", "..", "testdata", "demo", "*chats", "*", "*.jsonl"))
	if err != nil || len(demo) == 0 {
		t.Fatal("no demo", err)
	}
	codes := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, path := range append(paths, demo...) {
		for _, width := range []int{1, 12, 39, 40, 60, 80, 120, 200} {
			for _, color := range []string{"never", "always"} {
				out, errs, code := terminal(t, width, "show", "--swipes", "--reasoning", "--color", color, path)
				if code != 0 || errs != "" {
					t.Fatalf("%s: exit %d, %s", path, code, errs)
				}
				for line := range strings.Lines(codes.ReplaceAllString(out, "")) {
					line = strings.TrimSuffix(line, "\n")
					if line != visible.Text(line) || strings.HasSuffix(line, " ") {
						t.Errorf("%q", line)
					}
					if width >= 12 && visible.Width(line) > width {
						t.Errorf("%s in %d: %d cells: %s", filepath.Base(path), width, visible.Width(line), line)
					}
				}
			}
		}
	}
}

// TestReadTells: what matters stays where there is little room; indexes are told where RANGES do;
// reasoning is counted in words of any script.
func TestReadTells(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chats", "Mira", "a.jsonl")
	if err := os.MkdirAll(filepath.Join(path, "..", "..", "..", "worlds"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	line := `{"name":"Mira","is_user":false,"mes":"x","extra":{"reasoning":"**灯台** a<!-- b c -->","media":[{"url":"user/images/a.png","type":"image","title":"a lamp room at dusk, and much more"}]}}`
	if err := os.WriteFile(path, []byte(`{"chat_metadata":{}}`+"\n"+line+"\n"+line), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ at, want string }{
		{"0", "Mira · a · message 0\n"},
		{"0..1", "Mira · a · messages 0–1\n"},
		{"0-1", "Mira · a · messages 0–1\n"},
		{"0..", "Mira · a · messages 0–\n"},
		{"-1", "Mira · a\n"},
		{"0", "\n  thought 3 words\n"},
		{"0", "\n  [picture: a lamp room at…, missing]\n"},
	} {
		if out, _, _ := terminal(t, 42, "show", "--color", "never", path, "-a", tt.at); !strings.Contains(out, tt.want) {
			t.Errorf("-a %s lacks %q:\n%s", tt.at, tt.want, out)
		}
	}
}

// TestDiffHeading: where a name is long, it is cut, and not the index, the date or what differs.
func TestDiffHeading(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, text := range []string{"old", "new"} {
		path := filepath.Join(dir, text+".jsonl")
		line := `{"name":"` + strings.Repeat("long name ", 12) + `end","is_user":false,"send_date":"2026-03-01","mes":"` + text + `"}`
		if err := os.WriteFile(path, []byte(`{"chat_metadata":{}}`+"\n"+line), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	out, _, _ := terminal(t, 60, "diff", "--color", "never", paths[0], paths[1])
	if !regexp.MustCompile(`(?m)^~ #0  ….*long name end  2026-03-01.*  text$`).MatchString(out) {
		t.Errorf("the heading is cut: %s", out)
	}
}

// TestReadUndated: a day's rule stands apart from a message without a date in front of it.
func TestReadUndated(t *testing.T) {
	inUTC(t)
	path := filepath.Join(t.TempDir(), "chat.jsonl")
	chat := `{"chat_metadata":{}}` + "\n" + `{"name":"A","is_user":false,"mes":"One."}` + "\n" + `{"name":"A","is_user":false,"send_date":"2026-03-01T18:42:07.311Z","mes":"Two."}`
	if err := os.WriteFile(path, []byte(chat), 0o666); err != nil {
		t.Fatal(err)
	}
	out, _, _ := terminal(t, 60, "show", path, "--color", "never")
	if !strings.Contains(out, "\n  One.\n\n── Sunday") || strings.Contains(out, "\n\n\n") {
		t.Errorf("%s", out)
	}
}
