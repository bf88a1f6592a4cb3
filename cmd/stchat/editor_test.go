package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestEditor: a text that a person changed in an editor becomes that of the message, unless the chat changed
// meanwhile, in whatever place: then nothing is done, and the text stays in a file that is named.
func TestEditor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor is a shell script")
	}
	const chat = `{"chat_metadata":{},"user_name":"unused","character_name":"unused"}
{"name":"Mira","is_user":false,"mes":"The lamp."}
{"name":"Tom","is_user":true,"mes":"A light."}
`
	const edits = `printf 'The lantern.\n' >"$1"; `
	for _, test := range []struct {
		name, editor string
		code         int
		holds        string // what the chat contains afterwards
		said         string // a pattern
	}{
		{"changed", edits, 0, "The lantern.", `^changed message 0 `},
		{"unchanged", `true; `, 0, "The lamp.", `^stchat: unchanged$`},
		{"another message changed", edits + `sed s/light/beam/ chat.jsonl >new; cp new chat.jsonl; `, 2, "The lamp.", `^stchat: chat\.jsonl: this chat changed while the editor was open, so nothing is done; the text is kept in (.*)$`},
		{"the same message changed", edits + `sed s/lamp/moon/ chat.jsonl >new; cp new chat.jsonl; `, 2, "The moon.", `^stchat: chat\.jsonl: this chat changed while the editor was open, so nothing is done; the text is kept in (.*)$`},
		{"a message was added", edits + `echo '{"mes":"new"}' >>chat.jsonl; `, 2, "The lamp.", `^stchat: chat\.jsonl: this chat changed while the editor was open, so nothing is done; the text is kept in (.*)$`},
		{"the chat is gone", edits + `mv chat.jsonl old.jsonl; `, 2, "", `^stchat: chat\.jsonl: no such file or directory; the text is kept in (.*)$`},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			t.Setenv("TMPDIR", dir)
			for name, content := range map[string]string{"chat.jsonl": chat, "editor.sh": test.editor} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}

			var said bytes.Buffer
			e := env{
				In: strings.NewReader(""), InTTY: true, Out: &said, OutTTY: true, Err: &said, ErrTTY: true, Width: 80,
				Getenv: func(name string) string { return map[string]string{"VISUAL": "sh editor.sh"}[name] },
				Now:    time.Now,
			}
			code := run(context.Background(), e, []string{"edit", "--color", "never", "chat.jsonl", "0"})
			line := strings.Join(strings.Fields(said.String()), " ") // as it was before it was wrapped
			match := regexp.MustCompile(test.said).FindStringSubmatch(line)
			if code != test.code || match == nil {
				t.Fatalf("exit %d: %s", code, said.String())
			}
			after, _ := os.ReadFile("chat.jsonl") // which one of the editors removes
			if !strings.Contains(string(after), test.holds) {
				t.Errorf("the chat is %s", after)
			}

			kept, err := filepath.Glob(filepath.Join(dir, "stchat-edit-*", "*"))
			if err != nil {
				t.Fatal(err)
			}
			if len(match) == 1 {
				if len(kept) > 0 {
					t.Errorf("left behind: %q", kept)
				}
				return
			}
			text, err := os.ReadFile(match[1])
			if err != nil || string(text) != "The lantern.\n" {
				t.Errorf("the file with the text has %q: %v", text, err)
			}
		})
	}
}
