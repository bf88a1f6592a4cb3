package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNarrow shows a chat on small screens: no line is too wide or ends with blanks, and of names the end is kept.
func TestNarrow(t *testing.T) {
	user := t.TempDir()
	t.Chdir(user)
	name := "Maren Holm and the keeper of the lighthouse beyond Gull Rock - Branch #12"
	path, other := filepath.Join("chats", "Maren", name+".jsonl"), filepath.Join("chats", "Maren", "b.jsonl")
	message := `{"name":"Maren Holm","is_user":false,"is_system":false,"send_date":"2026-03-01T18:42:07.000Z","mes":"The boat.","swipes":["The boat.","A boat."],"swipe_id":0,` +
		`"extra":{"reasoning":"` + strings.Repeat("word ", 40) + `","reasoning_duration":3661000,"branches":["gone"],"files":[{"url":"/user/files/gone.txt"}]}}`
	lamp := `{"chat_metadata":{}}` + "\n" + `{"name":"Maren","is_user":false,"mes":"A lamp."}` + "\n"
	for path, text := range map[string]string{
		"settings.json":                   "{}",
		filepath.Join("worlds", "x.json"): "{}",
		path:                              `{"chat_metadata":{}}` + "\n" + message + "\n" + strings.Replace(message, "18:42:07", "18:45:07", 1) + "\n",
		other:                             `{"chat_metadata":{}}` + "\n" + strings.NewReplacer(`"mes":"The`, `"mes":"A`, `swipe_id":0`, `swipe_id":1`).Replace(message) + "\n",
		filepath.Join("chats", "Maren", "none.jsonl"):                              "",
		filepath.Join("chats", "Maren", "Maren - 2026-03-01@18h42m07s311ms.jsonl"): lamp,
		filepath.Join("chats", "Maren", "z.jsonl"):                                 lamp,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		width int
		args  []string
		want  []string
	}{
		{60, []string{"show", path}, []string{"Branch #12", ", missing]", "‹1/2›  18:42  #0"}},
		{20, []string{"show", path}, []string{"Branch #12", "thought ", "…", "\nSunday 1 March 2026\n"}},
		{24, []string{"show", path, "-a", "0..1,0,1,0..1,1"}, []string{"\nmessages 0–1, 0, 1, 0–1,\n1\n"}},
		{40, []string{"diff", path, other}, []string{"~ #0  ", "Maren", "2026-03-01 ", "\n  another swipe (2 of 2)"}},
		{20, []string{"diff", path, other}, []string{"- #1  ", "2026-03-01 "}},
		{80, []string{"inspect", other}, []string{"0 keys"}},
		{80, []string{"inspect", filepath.Join("chats", "Maren", "none.jsonl")}, []string{"0 keys"}},
		{30, []string{"search", "lamp"}, []string{"\n  2026-03-01 18:42\n  and 1 branch that shares it\n"}},
		{25, []string{"check", "."}, []string{"dangling-branch", "missing-attachment"}},
	} {
		on := display{width: test.width}
		out, _ := on.show(append(test.args, "--color", "never")...)
		for _, want := range test.want {
			if !strings.Contains(out, want) {
				t.Errorf("%d columns, %q: no %q in\n%s", test.width, test.args, want, out)
			}
		}
		on.check(t, test.args, out, func(line string) bool {
			return strings.Contains(line, "stchat ") || strings.Contains(line, "chats/") || strings.Contains(line, "/user/files")
		})
	}
}

// TestNarrowErrors: what is said of a wrong call fits, but for the command in it, which has a line
// of its own.
func TestNarrowErrors(t *testing.T) {
	said, _ := display{width: 34}.show("show", "chat.jsonl", "--role", "nobody")
	if want := "\nRun 'stchat show --help' for\n  usage.\n"; !strings.HasSuffix(said, want) {
		t.Errorf("got %q, want it to end with %q", said, want)
	}
}

// TestPathOfAnError: a path that does not fit behind the program's name has a line of its own; and an
// error is red.
func TestPathOfAnError(t *testing.T) {
	for _, test := range []struct{ color, want string }{
		{"never", "stchat:\n  chats/Mira/no such chat of hers.jsonl:\n  no such file or directory\n"},
		{"always", "\x1b[31mstchat:\x1b[0m\n  chats/Mira/"},
	} {
		said, _ := display{width: 42}.show("show", "chats/Mira/no such chat of hers.jsonl", "--color", test.color)
		if !strings.HasPrefix(said, test.want) {
			t.Errorf("got %q, want %q", said, test.want)
		}
	}
}

// TestWrongCallsAreRed: an error is red, also where the command was not begun.
func TestWrongCallsAreRed(t *testing.T) {
	for _, args := range [][]string{{"diff", "a", "b", "c"}, {"tree", "--nosuch"}, {"nosuch"}, {"stats", "--by", "nosuch"}} {
		for _, plain := range []string{"", "1"} {
			var errs bytes.Buffer
			e := env{In: strings.NewReader(""), Out: io.Discard, Err: &errs, ErrTTY: true, Width: 80, Now: time.Now}
			e.Getenv = func(name string) string { return map[string]string{"NO_COLOR": plain}[name] }
			run(context.Background(), e, args)
			if got := strings.HasPrefix(errs.String(), "\x1b[31mstchat:\x1b[0m "); got != (plain == "") {
				t.Errorf("%q, NO_COLOR=%s: %q", args, plain, errs.String())
			}
		}
	}
}

// TestUnknownWidth: what a person gets through a pipe, as with --color always, is 80 cells wide.
func TestUnknownWidth(t *testing.T) {
	t.Chdir(hardFolder(t))
	for _, args := range [][]string{{"tree", "--all"}, {"list"}, {"inspect"}, {"inspect", filepath.Join("chats", "Mira", "deep 9.jsonl")}} {
		piped := display{}
		text, _ := piped.show(append(args, "--color", "always")...)
		piped.check(t, args, text, func(string) bool { return false })
	}
}

// TestNarrowLost: what is said below a chat that has lost something is wrapped.
func TestNarrowLost(t *testing.T) {
	user := hardFolder(t)
	t.Chdir(user)
	path, _ := hardChats()
	at := time.Now()
	minuteLater := func() time.Time { // undo's records have no order within a second
		at = at.Add(time.Minute)
		return at
	}
	add := []string{"add", path, "--role", "user", "--speaker", "You", "--text"}
	for _, command := range [][]string{
		append(slices.Clip(add), "a1"),
		append(slices.Clip(add), "a2"),
		{"snapshot"},
		{"delete", path, "-a", "-2..-1"},
		append(slices.Clip(add), "b1"),
		append(slices.Clip(add), "b2"),
		append(slices.Clip(add), "b3"),
		{"snapshot"},
	} {
		if _, errs, code := terminalAt(t, minuteLater, 0, command...); code != 0 {
			t.Fatal(command, errs)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if out, errs, _ := terminalAt(t, minuteLater, 44, "lost", "--color", "never"); !strings.Contains(out, "\n  further 2 messages in 1 older version: run\n    it again after this\n") {
		t.Errorf("%s%s", out, errs)
	}
}

// TestNarrowPlans: what repair, diff-meta and the dry runs of edits show of two sides is wrapped; the paths keep
// lines of their own.
func TestNarrowPlans(t *testing.T) {
	t.Chdir(t.TempDir())
	long := strings.Repeat("a lamp and a door ", 5)
	for path, metadata := range map[string]string{"a.jsonl": `"integrity":"1","note":"` + long + `one"`, "b.jsonl": `"note":"` + long + `two","main_chat":"a"`} {
		text := `{"chat_metadata":{` + metadata + "}}\n" + `{"name":"Maren","is_user":false,"mes":"` + long + `","swipe_id":7,"swipes":["` + long + `"]}` + "\n{\"name\":\"Maren\",\"mes\":\"" + long + "\n"
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("c.jsonl", []byte(`{"chat_metadata":{}}`+"\n"+`{"name":"Maren","is_user":false,"mes":"`+long+`"}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{20, 50, 90, 200} {
		for _, args := range [][]string{
			{"repair", "--dry-run", "a.jsonl"},
			{"diff-meta", "a.jsonl", "b.jsonl"},
			{"edit", "--dry-run", "c.jsonl", "-a", "0", "--set", "mes=" + long + "now"},
			{"meta", "set", "--dry-run", "c.jsonl", "--set", "note=" + long},
			{"repair", "-y", "a.jsonl"},
		} {
			on := display{width: width}
			out, _ := on.show(append(slices.Clip(args), "--color", "always")...)
			on.check(t, args, out, func(line string) bool {
				isHead := strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")
				isPath := strings.HasPrefix(line, "    ") && strings.ContainsAny(line, `/\`)
				return isHead || isPath || strings.Contains(line, "stchat ")
			})
		}
		if _, errs, code := terminal(t, 0, "undo"); code != 0 {
			t.Fatal(errs)
		}
	}
}

// TestCheckNothingToRepair: between what is found and the table is one empty line where no command would help, too.
func TestCheckNothingToRepair(t *testing.T) {
	t.Chdir(hardFolder(t))
	if out, errs, _ := terminal(t, 80, "check", "--color", "never"); strings.Contains(out, "\n\n\n") || !strings.Contains(out, "1 warning, 82 infos in 43 of 43 chats\n\n") {
		t.Errorf("%s%s", out, errs)
	}
}

// TestNarrowStats: what is said below the days stands below them, and the hours' ends stay together.
func TestNarrowStats(t *testing.T) {
	t.Chdir(t.TempDir())
	text := `{"chat_metadata":{}}` + "\n"
	for day := range 31 {
		text += fmt.Sprintf(`{"name":"Maren","is_user":false,"send_date":"2026-03-%02dT18:42:07.311Z","mes":"a lamp"}`+"\n", day+1)
	}
	if err := os.WriteFile("a.jsonl", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out, errs, _ := terminal(t, 40, "stats", "a.jsonl", "--color", "never")
	for _, want := range []string{" more, words a day;\n      longest streak 31 days; best day\n      2026-03-01, 2 words\n", "\n          0h … 23h\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s%s", want, out, errs)
		}
	}
}

// TestFixedPhrases: what is always said, whatever the chats are, fits on the smallest screens.
func TestFixedPhrases(t *testing.T) {
	user := hardFolder(t)
	t.Chdir(user)
	many := strings.Repeat(`{"name":"Maren","is_user":false,"mes":"a"}`+"\n", 60)
	if err := os.WriteFile("many.jsonl", []byte(`{"chat_metadata":{}}`+"\n"+many), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		width int
		args  []string
		want  string
	}{
		{20, []string{"check", "--list-rules"}, "\n+ stchat repair\n  fixes it\n"},
		{19, []string{"search", "lamp"}, "\n20 texts in 20\nchats\n"},
		{20, []string{"edit", "--dry-run", "many.jsonl", "-a", "0..", "--set", "mes=y"}, "\n… and 20 changes\n  more\n"},
		{20, []string{"--help"}, "\n  LC_ALL,\n    LC_CTYPE, LANG\n"},
	} {
		if out, errs, _ := terminal(t, test.width, append(test.args, "--color", "never")...); !strings.Contains(out, test.want) {
			t.Errorf("%q: no %q in\n%s%s", test.args, test.want, out, errs)
		}
	}
}

// TestCommandsInNotes: a command in what is said to a person is whole, on a line of its own.
func TestCommandsInNotes(t *testing.T) {
	demo, err := filepath.Abs(demoFolder)
	if err != nil {
		t.Fatal(err)
	}
	user := t.TempDir()
	if err := os.CopyFS(user, os.DirFS(demo)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(user)
	story := filepath.Join("chats", "Maren Holm", "Maren Holm - 2026-03-01@18h42m07s311ms.jsonl")
	for _, test := range []struct {
		args       []string
		begin, end string // of the command
	}{
		{[]string{"copy", story, "Second"}, "`stchat clone-lorebook --rebind ", "/Second'`"},
		{[]string{"branch", story, "--at", "3"}, "", ""},
		{[]string{"check", "chats", "--severity", "info", "--rule", "lorebook-shared-state"}, "stchat clone-lorebook --rebind ", ".jsonl'"},
		{[]string{"rm", strings.TrimSuffix(story, ".jsonl") + " - Branch #2.jsonl"}, "", ""},
		{[]string{"snapshot"}, "", ""},
		{[]string{"snapshot", user}, "`stchat lost ", "`"},
	} {
		if len(test.args) == 2 && test.args[0] == "snapshot" { // a chat vanishes between the two
			if err := os.Remove(strings.TrimSuffix(story, ".jsonl") + " - Branch #1.jsonl"); err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir()) // from where the command needs the path
		}
		text, code := display{width: 60}.show(append(test.args, "--color", "never")...)
		if code > 1 {
			t.Fatal(test.args, text)
		}
		said := strings.Split(text, "\n")
		whole := func(line string) bool {
			command := strings.TrimSpace(line)
			return strings.HasPrefix(command, test.begin) && strings.HasSuffix(strings.TrimSuffix(command, "\x1b[0m"), test.end)
		}
		if test.begin != "" && !slices.ContainsFunc(said, whole) {
			t.Errorf("%q does not show the command %s… whole:\n%s", test.args, test.begin, strings.Join(said, "\n"))
		}
	}
}
