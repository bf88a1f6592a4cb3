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
	return terminalAt(t, time.Now, width, args...)
}

// terminalAt is terminal at another time.
func terminalAt(t *testing.T, now func() time.Time, width int, args ...string) (out, errs string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	e := env{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr, OutTTY: width > 0, Width: width,
		Getenv: func(string) string { return "" }, Now: now,
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
	book := filepath.Join(user, "worlds", "Sea.json")
	writeFile(t, book, `{"entries":{"0":{"uid":0,"comment":`+string(mustJSON(t, hostile))+`}}}`)
	for _, width := range []int{0, 40, 80, 200} {
		for _, args := range [][]string{{path}, {user}, {path, filepath.Join(folder, "d.jsonl")}, {book}, {book, "--json"}, {path, "--messages"}, {user, "--messages"}, {path, "--json"}, {user, "--json"}, {path, "--messages", "--json"}} {
			t.Run(fmt.Sprint(width, " ", strings.Join(args[1:], " ")), func(t *testing.T) {
				out, errs, code := terminal(t, width, append([]string{"inspect"}, args...)...)
				if code != 0 || out == "" {
					t.Fatalf("exit %d: %s%s", code, out, errs)
				}
				cells := width
				if strings.Contains(strings.Join(args, " "), "--json") {
					cells = 0 // JSON is not cut
				}
				clean(t, strings.NewReplacer(folder, "FOLDER", user, "USER").Replace(out), cells)
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

// TestInspectFolderOnATerminal holds how a folder looks: totals, owners with the largest first, damage, and
// the lorebooks with the number of their chats.
func TestInspectFolderOnATerminal(t *testing.T) {
	user := overviewFolder(t)
	t.Chdir(user)
	out, errs, code := terminal(t, 60, "inspect", "--color", "never")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d, %s", code, errs)
	}
	want := `5 chats, 4 messages, 245 B
2 characters, 1 group, 2 damaged lines in 2 chats

owner        chats  messages   size
Mira             2         2  157 B
Pair             1         1   46 B
汐見 栞          1         0   31 B
group chats      1         1   11 B

damaged chat  lines  owner
b                 1  Mira
潮                1  汐見 栞
what is wrong, and how to fix it: stchat check

lorebook  chats
潮            2
Sea           1
Unused        0
`
	if out != want {
		t.Errorf("the folder is\n%s\nwant\n%s", out, want)
	}

	out, _, _ = terminal(t, 60, "inspect", "--color", "never", "chats/Mira", "group chats")
	if want := "what is wrong, and how to fix it:\n  stchat check " + visible.Args("chats/Mira", "group chats") + "\n"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	for _, args := range [][]string{{"Pair"}, {"group chats"}} {
		out, _, _ := terminal(t, 60, append([]string{"inspect", "--color", "never"}, args...)...)
		if !strings.Contains(out, "\nPair             1") && !strings.Contains(out, "\nPair       1") {
			t.Errorf("%q is no overview:\n%s", args, out)
		}
	}
}

// TestInspectFolderIsCut: of many owners and lorebooks a person sees the first, and all with -v.
func TestInspectFolderIsCut(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 15 {
		writeFile(t, fmt.Sprintf("chats/Mira %d/a.jsonl", i), `{"chat_metadata":{"world_info":"Used"}}`)
		writeFile(t, fmt.Sprintf("worlds/Book %d.json", i), `{"entries":{}}`)
	}
	writeFile(t, "worlds/Used.json", `{"entries":{}}`)

	out, _, _ := terminal(t, 60, "inspect", "--color", "never")
	for _, want := range []string{"\nand 5 more (-v)\n", "\nUsed         15\n", "\nand 6 more, 6 of them with 0 chats (-v)\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out, _, _ = terminal(t, 60, "inspect", "-v", "--color", "never"); strings.Contains(out, "more") || strings.Count(out, "\nMira ") != 15 || strings.Count(out, "\nBook ") != 15 {
		t.Errorf("with -v:\n%s", out)
	}
	out, _, _ = terminal(t, 60, "inspect", "worlds/Used.json", "--color", "never")
	if !strings.Contains(out, "and 3 more (-v lists them)\n") || strings.Count(out, "  Mira ") != 12 {
		t.Errorf("a lorebook of 15 chats:\n%s", out)
	}
	if out, _, _ = terminal(t, 60, "inspect", "-v", "worlds/Used.json", "--color", "never"); strings.Count(out, "  Mira ") != 15 {
		t.Errorf("with -v:\n%s", out)
	}
}

// TestInspectLorebookOnATerminal holds how a lorebook looks.
func TestInspectLorebookOnATerminal(t *testing.T) {
	t.Chdir(overviewFolder(t))
	out, errs, code := terminal(t, 60, "inspect", "--color", "never", "worlds/潮.json", "worlds/Bad.txt.json")
	want := `潮
file          worlds/潮.json
size          151 B
entries       2  1 of an extension
queue         1 operation pending
chats         2
              a  Mira
              g  Pair
`
	if out != want || code != 2 || !strings.Contains(errs, "Bad.txt.json: the lorebook does not exist") {
		t.Errorf("exit %d, %s, the lorebook is\n%s\nwant\n%s", code, errs, out, want)
	}
}

// overviewFolder makes a user folder with characters, groups, damage and lorebooks.
func overviewFolder(t *testing.T) string {
	t.Helper()
	user := t.TempDir()
	const book = `{"entries":{"0":{"uid":0,"comment":"Sea"},"1":{"uid":1,"comment":"__operation_queue","content":"{\"queue\":[{\"id\":\"o\",\"status\":\"pending\"}]}"}}}`
	for path, text := range map[string]string{
		"chats/Mira/a.jsonl":  `{"chat_metadata":{"world_info":"潮"}}` + "\n" + `{"mes":"a","send_date":"2026-01-02T03:04:05.000Z"}`,
		"chats/Mira/b.jsonl":  `{"chat_metadata":{"world_info":"Sea","main_chat":"a"}}` + "\n" + `{"mes":"a"}` + "\n{",
		"chats/汐見 栞/潮.jsonl":  `{"chat_metadata":{}}` + "\n" + `{"mes":"to`,
		"group chats/g.jsonl": `{"chat_metadata":{"world_info":"潮"}}` + "\n" + `{"m":1}`,
		"group chats/h.jsonl": `{"mes":"a"}`,
		"groups/7.json":       `{"id":"7","name":"Pair","chats":["g"],"chat_id":"g"}`,
		"worlds/Unused.json":  `{"entries":{}}`,
		"worlds/Sea.json":     `{"entries":{}}`,
		"worlds/潮.json":       book,
		"backups/x.jsonl":     `{}`,
	} {
		writeFile(t, filepath.Join(user, path), text)
	}
	return user
}

// writeFile writes a file, and makes the folders above it.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	path = filepath.FromSlash(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
