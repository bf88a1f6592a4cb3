package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"stchat/internal/text/visible"

	"stchat/internal/folder/inspect"
)

// terminal runs the program with stdout on a terminal of that width.
func terminal(t *testing.T, width int, args ...string) (out, errs string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	e := env{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr, OutTTY: width > 0, Width: width,
		Getenv: func(string) string { return "" }, Now: time.Now,
	}
	code = run(context.Background(), e, args)
	return stdout.String(), stderr.String(), code
}

// hostile is text that would drive a terminal, break a table or reorder what
// is read.
const hostile = "a\x1b[2J\x1b]0;title\a\u202eevil\u2066\n\tb\r\x00\u200f\u009b31m日本語"

// hostileChat is a chat with such text wherever there may be some.
func hostileChat(t *testing.T) string {
	t.Helper()
	text := string(mustJSON(t, hostile))
	return `{"chat_metadata":{"main_chat":` + text + `,"integrity":` + text + `,"world_info":` + text + `,` + text + `:{"x":` + text + `}},"user_name":"unused"}` + "\n" +
		`{"name":` + text + `,"is_user":true,"send_date":` + text + `,"mes":` + text + `,"extra":{"bookmark_link":` + text + `,"branches":[` + text + `],` + text + `:` + text + `},"swipe_id":0,"swipes":[` + text + `]}` + "\n" +
		"\x1b[2J\n" + `{"name":"plain","mes":"` + strings.Repeat("日本語", 200) + `"}`
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// clean fails where the output could drive a terminal, or is wider than it.
func clean(t *testing.T, out string, width int) {
	t.Helper()
	for line := range strings.Lines(ownColor.ReplaceAllString(out, "")) {
		line = strings.TrimSuffix(line, "\n")
		for _, r := range line {
			if unicode.IsControl(r) && (r != '\t' || width != 0) || unicode.In(r, unicode.Bidi_Control) || r == unicode.ReplacementChar {
				t.Errorf("%q in %q", r, line)
			}
		}
		if width > 0 && visible.Width(line) > width {
			t.Errorf("%d cells on a terminal of %d: %q", visible.Width(line), width, line)
		}
	}
}

func TestInspectOfAHostileChat(t *testing.T) {
	user := t.TempDir()
	folder := filepath.Join(user, "chats", "Mira")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "c.jsonl")
	for _, name := range []string{"c.jsonl", "d.jsonl"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(hostileChat(t)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, width := range []int{0, 40, 80, 200} {
		for _, args := range [][]string{{path}, {user}, {path, "--messages"}, {user, "--messages"}, {path, "--json"}, {user, "--json"}, {path, "--messages", "--json"}} {
			t.Run(fmt.Sprint(width, " ", strings.Join(args[1:], " ")), func(t *testing.T) {
				out, errs, code := terminal(t, width, append([]string{"inspect"}, args...)...)
				if code != 0 || out == "" {
					t.Fatalf("exit %d: %s%s", code, out, errs)
				}
				cells := width
				if strings.Contains(strings.Join(args, " "), "--json") || args[0] == user && width == 40 {
					cells = 0 // JSON is not cut; a table needs some room
				}
				clean(t, strings.ReplaceAll(out, folder, "FOLDER"), cells)
				clean(t, strings.ReplaceAll(errs, folder, "FOLDER"), 0)
			})
		}
	}
}

// TestInspectOfAHostileHeader holds for metadata of very many keys and of
// 10,000 levels.
func TestInspectOfAHostileHeader(t *testing.T) {
	var keys strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&keys, `,"key %d":%d`, i, i)
	}
	deep := strings.Repeat(`{"a":[`, 4998) + strings.Repeat(`]}`, 4998)
	for name, md := range map[string]string{"wide": `"x":1` + keys.String(), "deep": `"x":` + deep} {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		if err := os.WriteFile(path, []byte(`{"chat_metadata":{`+md+`}}`+"\n"+`{"mes":"a","extra":{`+md+`}}`), 0o666); err != nil {
			t.Fatal(err)
		}
		out, errs, code := terminal(t, 80, "inspect", path)
		if code != 0 || errs != "" {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
		clean(t, strings.ReplaceAll(out, path, "PATH"), 80)
		out, _, code = terminal(t, 0, "inspect", "--json", path)
		var doc struct {
			Messages int
			Keys     []string `json:"metadata_keys"`
			Total    int      `json:"metadata_key_total"`
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || doc.Messages != 1 ||
			doc.Total != 1+100_000*strings.Count(name, "wide") || len(doc.Keys) != min(doc.Total, inspect.MaxKeys) {
			t.Errorf("%s: exit %d, %v, %d messages, %d keys, %d listed", name, code, err, doc.Messages, doc.Total, len(doc.Keys))
		}
		if _, errs, code := terminal(t, 80, "diff-meta", path, path); code != 0 || errs != "stchat: the metadata is equal\n" {
			t.Errorf("%s: diff-meta: exit %d, %s", name, code, errs)
		}
	}
}

func TestDiffMetaOfHostileText(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a.jsonl"), filepath.Join(t.TempDir(), "b.jsonl")
	if err := os.WriteFile(a, []byte(hostileChat(t)), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b, []byte(`{"chat_metadata":{"main_chat":"x","world_info":"y"}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"text", "json", "patch", "merge-patch"} {
		out, errs, code := terminal(t, 80, "diff-meta", a, b, "--format", format)
		if code != 1 || errs != "" {
			t.Errorf("%s: exit %d, %s", format, code, errs)
		}
		clean(t, out, 0)
	}
}

// inUTC makes the machine's zone UTC for one test.
func inUTC(t *testing.T) {
	t.Helper()
	zone := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = zone })
}

// TestInspectCardOnATerminal holds how a card looks.
func TestInspectCardOnATerminal(t *testing.T) {
	inUTC(t)
	path := filepath.Join("..", "..", "testdata", "golden", "solo-branch", "after", "chats", "Mira", "Mira - 2026-01-02@03h04m05s006ms - Branch #1.jsonl")
	out, errs, code := terminal(t, 100, "inspect", "--color", "never", path)
	if code != 0 || errs != "" {
		t.Fatalf("exit %d, %s", code, errs)
	}
	for _, want := range []string{
		"Mira - 2026-01-02@03h04m05s006ms - Branch #1\n",
		"messages      13  6 user, 7 character, 0 system  0 hidden\n",
		"dates         2026-01-02 03:04  to  2026-01-02 03:16\n",
		"parent        Mira - 2026-01-02@03h04m05s006ms  (exists)\n",
		"lorebook      z-AutoLB-main123  (exists)  5 entries  3 internal  1 operation pending\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	clean(t, strings.ReplaceAll(out, path, "PATH"), 100)
}

// TestInspectTableOnATerminal holds that a table of Chinese and Japanese
// names is aligned, and that branches stand below their parents.
func TestInspectTableOnATerminal(t *testing.T) {
	inUTC(t)
	user := t.TempDir()
	header := func(parent string) string {
		return `{"chat_metadata":{"main_chat":"` + parent + `"}}` + "\n" + `{"mes":"a","send_date":"2026-01-02T03:04:05.000Z"}`
	}
	for path, text := range map[string]string{
		"chats/汐見 栞/潮.jsonl":             `{"chat_metadata":{}}`,
		"chats/汐見 栞/枝 - Branch #1.jsonl": header("潮"),
		"chats/Mira/z.jsonl":             `{"chat_metadata":{}}`,
		"chats/Mira/a.jsonl":             header("z"),
		"chats/Mira/b.jsonl":             header("a"),
		"chats/Mira/c.jsonl":             header("gone") + "\n{",
		"group chats/g.jsonl":            `{"mes":"a"}`,
		"worlds/Unused.json":             `{"entries":{}}`,
		"backups/x.jsonl":                `{}`,
	} {
		path = filepath.Join(user, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, code := terminal(t, 90, "inspect", "--color", "never", user)
	if code != 0 || errs != "" {
		t.Fatalf("exit %d, %s", code, errs)
	}
	out = strings.ReplaceAll(strings.ReplaceAll(out, user, "USER"), "\\", "/")
	want := `chat              messages   size  last message
USER/chats/Mira
c                        1   91 B  2026-01-02 03:04  1 damaged line, parent missing
z                        0   20 B
└ a                      1   86 B  2026-01-02 03:04
  └ b                    1   86 B  2026-01-02 03:04
USER/chats/汐見 栞
潮                       0   20 B
└ 枝 - Branch #1         1   88 B  2026-01-02 03:04
USER/group chats
g                        1   11 B                    no header
total                    5  402 B  7 chats

2 characters, 0 groups, 7 chats, 5 messages, 402 B
0 lorebooks used by a chat
1 lorebook not used by any chat: Unused
`
	if out != want {
		t.Errorf("the table is\n%s\nwant\n%s", out, want)
	}
}
