package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stchat/internal/visible"
)

// hardFolder makes a user folder that is hard to show: names of 244 bytes, in scripts of all widths
// and directions, and branches forty deep.
func hardFolder(t *testing.T) string {
	t.Helper()
	user := t.TempDir()
	write := func(owner, name, parent string, texts ...string) {
		var b strings.Builder
		fmt.Fprintf(&b, `{"chat_metadata":{"main_chat":%s},"user_name":"unused","character_name":"unused"}`, mustJSON(t, parent))
		for i, text := range texts {
			fmt.Fprintf(&b, "\n"+`{"name":%s,"is_user":%v,"is_system":false,"send_date":"2026-03-%02dT18:42:07.311Z","mes":%s,"swipes":["a",%[4]s],"swipe_id":1}`,
				mustJSON(t, owner), i%2 == 1, i%28+1, mustJSON(t, text))
		}
		path := filepath.Join(user, "chats", owner, name+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(user, "worlds"), 0o777); err != nil {
		t.Fatal(err)
	}
	texts := []string{"The lamp, *late* again. \"Well?\"", "灯台の光が、ずっと回っている。「ね？」", "a 🕯️ and 👩‍👩‍👧 on the 🦑", "שלום \u202eabc\u202c مرحبا", strings.Repeat("x", 300)}
	write("Captain 🦑 Ó Súilleabháin", "Captain 🦑 Ó Súilleabháin - 2026-03-01@18h42m07s311ms", "", texts...)
	write("Captain 🦑 Ó Súilleabháin", "Captain 🦑 Ó Súilleabháin - 2026-03-01@18h42m07s999ms", "", texts[1:]...)
	write("汐見 栞", strings.Repeat("灯台", 40), "", texts...)
	parent := ""
	for i := range 40 {
		name := fmt.Sprintf("deep %d", i)
		write("Mira", name, parent, append(texts[:2:2], fmt.Sprintf("own %d of the lamp", i))...)
		parent = name
	}
	return user
}

// TestScreens shows the hard folder with every command that a person looks at, at several widths:
// no line is too wide but one that is to be copied, nothing drives the terminal, and colours change
// nothing but the marks of texts.
func TestScreens(t *testing.T) {
	user := hardFolder(t)
	t.Chdir(user)
	owner := filepath.Join("chats", "Captain 🦑 Ó Súilleabháin")
	a := filepath.Join(owner, "Captain 🦑 Ó Súilleabháin - 2026-03-01@18h42m07s311ms.jsonl")
	b := filepath.Join(owner, "Captain 🦑 Ó Súilleabháin - 2026-03-01@18h42m07s999ms.jsonl")
	if _, errs, code := terminal(t, 0, "snapshot", "--data", user); code != 0 {
		t.Fatal(errs)
	}
	if _, errs, code := terminal(t, 0, "branch", "--no-sync", a, "--at", "1", "-n", strings.Repeat("長い名前", 10)); code != 0 {
		t.Fatal(errs)
	}
	marks := strings.NewReplacer("*", "", "[-", "", "-]", "", "{+", "", "+}", "")
	copied := regexp.MustCompile(`^ *(stchat|restore|.*stchat (diff-meta|restore|message|repair)) `)
	for _, locale := range []string{"C.UTF-8", "C"} {
		for _, width := range []int{20, 39, 60, 80, 120, 200} {
			for _, args := range [][]string{
				{"message", "get", a},
				{"message", "get", a, "--swipes"},
				{"diff", a, b},
				{"diff", a, b, "--side"},
				{"diff", a, b, "--full"},
				{"tree"},
				{"tree", "--all"},
				{"tree", "--flat"},
				{"log", a},
				{"search", "lamp"},
				{"stats"},
				{"stats", "--by", "chat"},
				{"undo", "--list"},
				{"snapshot", "--dry-run", user},
			} {
				show := func(color string) string {
					var out, errs bytes.Buffer
					e := env{
						In: strings.NewReader(""), Out: &out, Err: &errs, OutTTY: true, Width: width, Now: time.Now,
						Getenv: func(name string) string { return map[string]string{"LC_ALL": locale}[name] },
					}
					if code := run(context.Background(), e, append(slices.Clip(args), "--color", color)); code > 1 {
						t.Fatalf("%q at %d: exit %d\n%s", args, width, code, errs.String())
					}
					return out.String()
				}
				plain, painted := show("never"), show("always")
				for line := range strings.Lines(plain) {
					line = strings.TrimSuffix(line, "\n")
					switch {
					case visible.Text(line) != line:
						t.Errorf("%q at %d drives the terminal: %q", args, width, line)
					case visible.Width(line) > width && !copied.MatchString(line):
						t.Errorf("%q at %d, %s: %d cells: %q", args, width, locale, visible.Width(line), line)
					case strings.TrimRight(line, " ") != line:
						t.Errorf("%q at %d: a space ends %q", args, width, line)
					}
				}
				if args[0] == "message" || args[0] == "diff" {
					continue // marks change where lines break
				}
				if got, want := marks.Replace(ownColor.ReplaceAllString(painted, "")), marks.Replace(plain); got != want {
					t.Errorf("%q at %d: painted it is\n%s\nplain\n%s", args, width, got, want)
				}
			}
		}
	}
}
