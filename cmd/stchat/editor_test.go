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

// TestAfterEditing: what an editor leaves as it is stays; a mark and CR LF that it adds do not come in.
func TestAfterEditing(t *testing.T) {
	for _, c := range []struct{ old, file, want string }{
		{"one", "one\n", "one"},
		{"one", "two\n", "two"},
		{"one", "two", "two"},
		{"one", "\ufefftwo\r\n", "two"},
		{"one\ntwo", "one\r\n2\r\n", "one\n2"},
		{"\ufeffone", "\ufeffone\n", "\ufeffone"},
		{"\ufeffone", "\ufefftwo\n", "\ufefftwo"},
		{"one\r\ntwo", "one\r\n2\n", "one\r\n2"},
		{"one\r\ntwo\r", "one\r\ntwo\r\n", "one\r\ntwo\r"},
		{"one\r\ntwo\r", "one\r\n2\r\n", "one\r\n2\r"},
		{"", "\n", ""},
	} {
		if got := afterEditing([]byte(c.file), c.old); got != c.want {
			t.Errorf("%q in the place of %q: %q, want %q", c.file, c.old, got, c.want)
		}
	}
}

// TestEditorNotUTF8: bytes that an editor would change keep it from being started.
func TestEditorNotUTF8(t *testing.T) {
	t.Chdir(t.TempDir())
	const chat = `{"chat_metadata":{}}` + "\n" + `{"name":"Mira","is_user":false,"mes":"bad ` + "\xff" + ` byte"}` + "\n"
	if err := os.WriteFile("chat.jsonl", []byte(chat), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	e := env{
		In: strings.NewReader(""), InTTY: true, Out: &said, OutTTY: true, Err: &said, ErrTTY: true, Width: 200,
		Getenv: func(name string) string { return map[string]string{"VISUAL": "false"}[name] },
		Now:    time.Now,
	}
	code := run(t.Context(), e, []string{"edit", "--color", "never", "chat.jsonl", "0"})
	if code != 2 || !strings.Contains(said.String(), "bytes that are not UTF-8") {
		t.Errorf("exit %d: %s", code, said.String())
	}
}
