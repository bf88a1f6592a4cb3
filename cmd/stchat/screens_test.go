package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/place/userdir"
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

// hardChats are the chats of the hard folder that commands are about.
func hardChats() (a, b string) {
	owner := filepath.Join("chats", "Captain 🦑 Ó Súilleabháin", "Captain 🦑 Ó Súilleabháin - 2026-03-01@18h42m07s")
	return owner + "311ms.jsonl", owner + "999ms.jsonl"
}

// TestScreens shows the hard folder with every command that a person looks at, at several widths and one by
// chance: no line is too wide, in notes neither, but one that is to be copied, nothing drives the terminal, and colours change
// nothing but the marks of texts.
func TestScreens(t *testing.T) {
	user := hardFolder(t)
	t.Chdir(user)
	a, b := hardChats()
	if _, errs, code := terminal(t, 0, "snapshot", "--data", user); code != 0 {
		t.Fatal(errs)
	}
	if _, errs, code := terminal(t, 0, "branch", a, "--at", "1", "-n", strings.Repeat("長い名前", 10)); code != 0 {
		t.Fatal(errs)
	}
	long := `extra={"image":"/user/images/` + strings.Repeat("long ", 30) + `.png"}`
	if _, errs, code := terminal(t, 0, "edit", b, "-a", "0", "--set", long); code != 0 {
		t.Fatal(errs)
	}
	if err := os.RemoveAll(filepath.Join("chats", "汐見 栞")); err != nil { // for lost
		t.Fatal(err)
	}
	phone := hardFolder(t)                                                                                        // has the chats removed above
	preview, _ := display{width: 80, locale: "C"}.show("edit", "--dry-run", "-q", a, "-a", "4", "--set", "mes=y") // is as wide as what it shows
	if !strings.Contains(preview, "#4") || strings.ContainsAny(preview, "…→") {
		t.Errorf("a terminal without UTF-8 cannot show %q", preview)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	const byChance = -1
	marks := strings.NewReplacer("*", "", "[-", "", "-]", "", "{+", "", "+}", "")
	copied := regexp.MustCompile(`^ *(stchat|restore|.*stchat (branch|diff-meta|restore|show|edit|repair)) |^( *|--- |\+\+\+ )chats/|^file  |^ *".*"$|^  (error|warning|info) `)
	for _, locale := range []string{"C.UTF-8", "C"} {
		for _, fixed := range []int{byChance, 20, 39, 60, 80, 120, 200} {
			for _, args := range [][]string{
				{"show", a},
				{"show", a, "--swipes"},
				{"diff", a, b},
				{"diff", a, b, "--side"},
				{"diff", a, b, "-v"},
				{"tree"},
				{"tree", "--all"},
				{"log", a},
				{"log", a, "--rev", "-1"},
				{"log"},
				{"log", "--as-of", "0m"},
				{"lost"},
				{"check"},
				{"check", "--list-rules"},
				{"merge", "--dry-run", "-q", user, phone},
				{"store"},
				{"state", "get", a},
				{"list"},
				{"inspect"},
				{"inspect", a},
				{"inspect", a, b, "--messages"},
				{"search", "lamp"},
				{"search", "ずっと回"},
				{"diff-meta", a, b},
				{"stats"},
				{"stats", "--by", "chat"},
				{"log", "--commands"},
				{"snapshot", "--dry-run", user},
			} {
				width := fixed
				if width == byChance {
					width = 21 + rng.IntN(118)
				}
				on := display{width: width, locale: locale}
				plain, code := on.show(append(slices.Clip(args), "--color", "never")...)
				painted, _ := on.show(append(slices.Clip(args), "--color", "always")...)
				if code > 1 {
					t.Fatalf("%q at %d: exit %d\n%s", args, width, code, plain)
				}
				on.check(t, args, plain, copied.MatchString)
				if args[0] == "show" || args[0] == "diff" {
					continue // marks change where lines break
				}
				if got, want := marks.Replace(ownColor.ReplaceAllString(painted, "")), marks.Replace(plain); got != want {
					t.Errorf("%q at %d: painted it is\n%s\nplain\n%s", args, width, got, want)
				}
			}
		}
	}
}

// Help on a terminal without UTF-8 is ASCII, and lists keep their lines where they are wrapped.
func TestHelpOnATerminal(t *testing.T) {
	commands := []string{"", "show", "edit", "meta set", "state get"}
	for _, v := range verbs() {
		commands = append(commands, v.name)
	}
	for _, command := range commands {
		on := display{width: 60, locale: "C"}
		help, _ := on.show(append(strings.Fields(command), "--help", "-v", "--color", "never")...)
		on.check(t, []string{command}, help, func(line string) bool { return strings.Contains(line, "stchat ") })
		if command == "export" && !strings.Contains(help, "\n  markdown  the text as it was written,") {
			t.Errorf("a format is not explained on a line of its own:\n%s", help)
		}
	}
}

// TestGoldenScreens compares what a person sees first of each command with testdata/screens, in the
// demo and in the hard folder; -update writes these files anew.
func TestGoldenScreens(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are quoted otherwise")
	}
	inUTC(t)
	demo := t.TempDir()
	if err := os.CopyFS(demo, os.DirFS(filepath.Join("..", "..", "testdata", "demo"))); err != nil {
		t.Fatal(err)
	}
	keeper := filepath.Join("chats", "Maren Holm", "Maren Holm - 2026-03-01@18h42m07s311ms")
	hardA, hardB := hardChats()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []struct{ name, user, a, b, gone, word string }{
		{"demo", demo, keeper + ".jsonl", keeper + " - Branch #1.jsonl", keeper + " - Branch #2.jsonl", "lamp"},
		{"hard", hardFolder(t), hardA, hardB, filepath.Join("chats", "Mira", "deep 39.jsonl"), "lamp"},
	} {
		t.Chdir(folder.user)
		for _, made := range [][]string{{"snapshot", "-m", "before the storm"}, {"hide", folder.b, "--at", "2"}, {"snapshot"}} {
			if out := screenOf(t, folder.user, 80, "C.UTF-8", append(made, "--color", "never")); strings.Contains(out, "exit") {
				t.Fatal(made, out)
			}
		}
		if err := os.Remove(folder.gone); err != nil {
			t.Fatal(err)
		}
		for _, look := range []struct {
			name, locale, color string
			width               int
		}{{"60-ascii", "C", "never", 60}, {"80", "C.UTF-8", "never", 80}, {"120-color", "C.UTF-8", "always", 120}, {"200", "C.UTF-8", "never", 200}} {
			var b strings.Builder
			for _, args := range [][]string{
				{"tree"},
				{"show", folder.a, "-a", "0..1"},
				{"diff", folder.a, folder.b},
				{"diff", folder.a, "--rev", "-1"},
				{"stats"},
				{"stats", "--by", "speaker"},
				{"inspect"},
				{"inspect", folder.a},
				{"inspect", folder.a, "--messages"},
				{"search", folder.word},
				{"log"},
				{"log", folder.b},
				{"log", folder.b, "--rev", "-1"},
				{"log", "--as-of", "0m"},
				{"lost", "-v"},
				{"check", "--severity", "info"},
				{"state", "get", folder.a},
				{"log", "--commands"},
				{"meta", "get", folder.b},
				{"snapshot", "--dry-run"},
				{"rm", "--dry-run", folder.a, "--family"},
			} {
				fmt.Fprintf(&b, "$ stchat %s\n%s\n", strings.Join(args, " "), screenOf(t, folder.user, look.width, look.locale, append(args, "--color", look.color)))
			}
			file := filepath.Join(here, "testdata", "screens", folder.name+"-"+look.name+".txt")
			isScreen(t, file, b.String())
		}
	}
}

// screenOf returns the first lines that a terminal shows of a command, with what is not the same
// in the next run, and escapes, replaced.
func screenOf(t *testing.T, user string, width int, locale string, args []string) string {
	t.Helper()
	text, code := display{width: width, locale: locale, now: inApril()}.show(args...)
	text = strings.NewReplacer(userdir.RealPath(user), "USER", user, "USER", "\x1b", "␛").Replace(text)
	text = regexp.MustCompile(`\d{8}T\d{6}-[0-9a-f]{8}`).ReplaceAllString(text, "20260401T120000-01234567")
	lines := strings.SplitAfter(text, "\n")
	const most = 14
	if len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("(%d lines more)\n", len(lines)-most-1))
	}
	if code != 0 {
		lines = append(lines, fmt.Sprintf("(exit %d)\n", code))
	}
	return strings.Join(lines, "")
}

// TestDeepTree: a chat far down in its family keeps its mark and its name on a narrow screen, a date
// is not cut, and a command is not broken.
func TestDeepTree(t *testing.T) {
	user := hardFolder(t)
	t.Chdir(user)
	if err := os.Remove(filepath.Join("chats", "Mira", "deep 2.jsonl")); err != nil {
		t.Fatal(err)
	}
	for _, locale := range []string{"C.UTF-8", "C"} {
		for width := 24; width < 100; width += 2 {
			on := display{width: width, locale: locale}
			out, _ := on.show("tree", "--all", "-q", "--color", "never")
			on.check(t, []string{"tree"}, out, func(string) bool { return false })
			mark := map[string]string{"C": "- ", "C.UTF-8": "· "}[locale]
			for i := range 36 {
				if name := fmt.Sprintf("%sdeep %d", mark, i+4); !strings.Contains(out, name+"\n") && !strings.Contains(out, name+" ") {
					t.Fatalf("%q is not seen at %d, %s:\n%s", name, width, locale, out)
				}
			}
			if strings.Contains(out, "......") || strings.Contains(out, "……") || !strings.Contains(out, "stchat check\n") || strings.Contains(out, "parent\n  missing  ") {
				t.Errorf("at %d, %s:\n%s", width, locale, out)
			}
		}
	}
}

// TestSearchShowsWhatItFound: whatever stands before it, beside it and below it, the word that was
// found is seen in each row, and so is where else the text is from; a name is whole where it fits.
func TestSearchShowsWhatItFound(t *testing.T) {
	user := hardFolder(t)
	t.Chdir(user)
	path, other := hardChats()
	long := strings.Repeat("a long way before the ", 9)
	for i, text := range []string{long + "lantern", long + "lantern goes out <!-- a lantern -->", "<pic prompt=\"" + long + "lantern at dusk\">"} {
		if _, errs, code := terminal(t, 0, "edit", path, "-a", strconv.Itoa(i), "--set", "mes="+text); code != 0 {
			t.Fatal(errs)
		}
	}
	for _, command := range [][]string{{"snapshot"}, {"edit", path, "-a", "1", "--set", "mes=x"}} {
		if _, errs, code := terminal(t, 0, command...); code != 0 {
			t.Fatal(errs)
		}
	}
	for _, width := range []int{20, 30, 39, 40, 60, 80, 100, 200} {
		out, errs, _ := terminal(t, width, "search", "lantern", path, other)
		if n := strings.Count(out, "lantern"); n != 3 {
			t.Errorf("at %d the word is seen %d times, not 3:\n%s%s", width, n, out, errs)
		}
		whole := strings.Join(strings.Fields(ownColor.ReplaceAllString(out, "")), " ")
		if !strings.Contains(whole, "rev 1, only in the history") {
			t.Errorf("at %d it does not say where the text is from:\n%s", width, out)
		}
		if width == 200 && !strings.Contains(whole, "Captain 🦑 Ó Súilleabháin …") {
			t.Errorf("a name is cut:\n%s", out)
		}
	}
}

// TestLogIsRead: a person reads a version's last message as it is shown elsewhere, and a pipe gets it as stored.
func TestLogIsRead(t *testing.T) {
	user := hardFolder(t)
	path := filepath.Join(user, "chats", "Mira", "told.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	text := `*She waits.* <!-- unseen -->\nIt **rains**.`
	if err := os.WriteFile(path, []byte(`{"chat_metadata":{}}`+"\n"+`{"name":"Mira","mes":"`+text+`"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := terminal(t, 0, "snapshot", "--data", user); code != 0 {
		t.Fatal(errs)
	}
	if out, errs, _ := terminal(t, 120, "log", path); !strings.Contains(out, "She waits. It rains.") {
		t.Errorf("%s%s", out, errs)
	}
	if out, errs, _ := terminal(t, 0, "log", path); !strings.HasSuffix(out, "\t"+text+"\n") {
		t.Errorf("%s%s", out, errs)
	}
}

// TestWritingScreens: what is said by commands that write one after the other in the demo, at 80 columns and in a
// pipe.
func TestWritingScreens(t *testing.T) {
	inUTC(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	stored := regexp.MustCompile(`(?m)[0-9.]+ kB|(\t)[0-9]+$`)
	for _, form := range []string{"80", "pipe"} {
		user := t.TempDir()
		if err := os.CopyFS(user, os.DirFS(filepath.Join(here, "..", "..", "testdata", "demo"))); err != nil {
			t.Fatal(err)
		}
		t.Chdir(user)
		var b strings.Builder
		for _, args := range [][]string{
			{"list"},
			{"branch", "Maren/@", "10", "test", "--isolate"},
			{"branch", "Maren/@", "10", "other", "--dry-run"},
			{"checkpoint", "Maren/@", "20", "Before the fog", "--link"},
			{"copy", "Maren/@", "Second"},
			{"join", "Maren/Second", "Maren/fog", "-n", "Both"},
			{"split", "Maren/Second", "25"},
			{"new", "Maren Holm", "-n", "Fresh"},
			{"open", "Maren Holm/Second"},
			{"edit", "Maren/@", "3", "He nods."},
			{"edit", "Maren/@", "4", "She nods.", "--dry-run"},
			{"replace", "lamp", "light", "Maren Holm/*", "--dry-run"},
			{"replace", "lamp", "light", "Maren Holm/*"},
			{"replace", "nothing of this", "x", "Maren/@"},
			{"hide", "Maren/@", "0..9"},
			{"unhide", "Maren/@", "0..9"},
			{"add", "Maren/@", "--role", "user", "--text", "Good night."},
			{"delete", "Maren Holm/Second", "50"},
			{"swipe", "Maren/@", "4", "1"},
			{"swipe", "Maren/@", "4", "--add", "Another."},
			{"meta", "set", "Maren/@", "note=Be brief."},
			{"slim", "Maren Holm/Second", "--drop", "swipes,reasoning"},
			{"clone-lorebook", "worlds/Saltmere.json"},
			{"rename", "Maren Holm/Fresh", "Old"},
			{"move", "Maren Holm/Old", "汐見 栞"},
			{"export", "Maren/@", "-o", "story.html"},
			{"snapshot"},
			{"restore", "Maren Holm/Second", "--rev", "-1", "-n", "Third"},
			{"rm", "Maren Holm/Third"},
			{"rm", "Maren Holm/Both", "Maren Holm/test"},
			{"undo"},
			{"redo"},
			{"repair", "--dry-run"},
			{"store"},
			{"undo", "--prune", "1d"},
			{"ls", "Maren"},
			{"mv", "Maren/@", "Ines"},
			{"delete", "Maren/@", "5"},
			{"help", "exit"},
		} {
			text := writtenScreen(t, user, form, args)
			if args[0] == "snapshot" || args[0] == "store" { // slugs are random, and so is what they take
				text = stored.ReplaceAllString(text, "${1}N")
			}
			fmt.Fprintf(&b, "$ stchat %s\n%s\n", strings.Join(args, " "), text)
		}
		file := filepath.Join(here, "testdata", "screens", "writing-"+form+".txt")
		isScreen(t, file, b.String())
	}
}

// written is a call of a command that writes, and one of it on several chats, if it takes them.
type written struct{ one, several []string }

// writtenCalls has each command that writes.
func writtenCalls() []written {
	call := func(line string) []string { return strings.Split(line, "|") }
	return []written{
		{call("add|Maren/@|--role|user|--text|Good night."), nil},
		{call("branch|Maren/@|10|test"), call("branch|Maren/@|Maren Holm/Before the storm|5|test")},
		{call("checkpoint|Maren/@|20|Before the fog|--link"), call("checkpoint|Maren Holm/*|5|Early")},
		{call("clone-lorebook|worlds/Saltmere.json"), call("clone-lorebook|Maren/@|Maren Holm/Before the storm")},
		{call("copy|Maren/@|Second"), nil},
		{call("delete|Maren Holm/@|5"), call("delete|Maren Holm/*|5|-y")},
		{call("edit|Maren/@|3|He nods."), call("edit|Maren Holm/*|3|--set|/extra/seen=true")},
		{call("export|Maren/@|-o|story.html"), call("export|Maren Holm/*|-o|stories/")},
		{call("hide|Maren/@|0..9"), call("hide|Maren Holm/*|0..9")},
		{call("import|talk.txt|Maren Holm|--user|Ines|-n|Talk"), call("import|talk.txt|gpt.json|Maren Holm|--user|Ines")},
		{call("join|Maren/@|Maren Holm/Before the storm"), nil},
		{call("merge|../more|-y"), nil},
		{call("meta|set|Maren/@|note=Be brief."), call("meta|set|Maren Holm/*|note=Be brief.|scenario=Fog")},
		{call("move|Maren Holm/Before the storm|汐見 栞|--cut"), call("move|Maren Holm/Before the storm|Maren Holm/Maren Holm - 2026-03-01@18h42m07s311ms - Branch #2|汐見 栞|--cut")},
		{call("new|Maren Holm|-n|Fresh"), nil},
		{call("open|Maren Holm/Before the storm"), nil},
		{call("rename|Maren Holm/Before the storm|The light"), nil},
		{call("repair|-y|bad"), nil},
		{call("replace|lamp|light|Maren/@"), call("replace|lamp|light|Maren Holm/*")},
		{call("rm|Maren Holm/Before the storm"), call("rm|Maren Holm/*|-y")},
		{call("slim|Maren/@|--drop|swipes,reasoning|--keep-last|0"), call("slim|Maren Holm/*|--drop|swipes|--keep-last|0")},
		{call("snapshot"), nil},
		{call("split|Maren/@|25"), nil},
		{call("state|set|luker/chats/Wren Tallow/Wren Tallow - 2026-03-12@21h03m55s420ms.jsonl|mood|--set|calm=true"), nil},
		{call("swipe|Maren/@|4|1"), nil},
		{call("unhide|Maren/@"), call("unhide|Maren Holm/*")},
	}
}

// TestThreeScreens: what each command that writes says of one chat in a dry run and for good, and of several, at 80
// and 120 columns, each in a demo of its own.
func TestThreeScreens(t *testing.T) {
	inUTC(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	stored := regexp.MustCompile(`(?m)[0-9.]+ kB|(\t)[0-9]+$`)
	for _, form := range []string{"80", "120"} {
		var b strings.Builder
		for _, c := range writtenCalls() {
			for _, args := range [][]string{append(slices.Clip(c.one), "--dry-run"), c.one, c.several} {
				if args == nil {
					continue
				}
				user := demoToWrite(t, here)
				text := writtenScreen(t, user, form, args)
				if args[0] == "snapshot" { // slugs are random, and so is what they take
					text = stored.ReplaceAllString(text, "${1}N")
				}
				fmt.Fprintf(&b, "$ stchat %s\n%s\n", strings.Join(args, " "), text)
			}
		}
		file := filepath.Join(here, "testdata", "screens", "three-"+form+".txt")
		isScreen(t, file, b.String())
	}
}

// demoToWrite makes a copy of the demo, with what is imported, merged and repaired beside it, and goes into it.
func demoToWrite(t *testing.T, here string) (user string) {
	t.Helper()
	user = filepath.Join(t.TempDir(), "user")
	if err := os.CopyFS(user, os.DirFS(filepath.Join(here, "..", "..", "testdata", "demo"))); err != nil {
		t.Fatal(err)
	}
	chat := read(t, filepath.Join(user, "chats", "Maren Holm", "Before the storm.jsonl"))
	lines := bytes.SplitAfter(chat, []byte("\n"))
	for path, text := range map[string]string{
		"talk.txt":       "Ines: Is anybody there?\n\nMaren Holm: Only the gulls.\n\n",
		"gpt.json":       `[{"role":"user","content":"Hello?"},{"role":"assistant","content":"Good evening."}]`,
		"bad/torn.jsonl": string(chat) + "\n" + `{"name":"Maren Holm","mes":"The la`,
		"../more/chats/Maren Holm/Elsewhere.jsonl":        string(bytes.Join(lines[:4], nil)),
		"../more/chats/Maren Holm/Before the storm.jsonl": string(chat) + "\n" + `{"name":"Ines","is_user":true,"is_system":false,"send_date":"2026-03-01T20:00:00.000Z","mes":"One more.","extra":{}}`,
		"../more/worlds/keep":                             "",
	} {
		full := filepath.Join(user, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		written := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
		if err := os.Chtimes(full, written, written); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(user)
	return user
}

// isScreen compares what is shown with a file of screens, or writes that.
func isScreen(t *testing.T, file, shown string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(shown), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(read(t, file)), shown); diff != "" {
		t.Errorf("%s (-want +got; -update takes what is got):\n%s", file, diff)
	}
}

// writtenScreen is screenOf for a command that writes, on a terminal of so many columns or in a pipe.
func writtenScreen(t *testing.T, user, form string, args []string) string {
	t.Helper()
	if width, err := strconv.Atoi(form); err == nil {
		return screenOf(t, user, width, "C.UTF-8", append(slices.Clip(args), "--color", "never"))
	}
	text, code := display{now: inApril()}.show(args...)
	text = strings.NewReplacer(userdir.RealPath(user), "USER", user, "USER").Replace(text)
	text = regexp.MustCompile(`\d{8}T\d{6}-[0-9a-f]{8}`).ReplaceAllString(text, "20260401T120000-01234567")
	if code != 0 {
		text += fmt.Sprintf("(exit %d)\n", code)
	}
	return text
}

// inApril is when the golden screens were seen.
func inApril() time.Time { return time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC) }
