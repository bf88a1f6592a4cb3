// Command guesses runs what people type first, in a copy of the demo, and says how many of the guesses
// are right, how many are right after one error, and how many are wrong. It exits with 1 if one is worse
// than guesses.txt says.
//
//	go run ./scripts/guesses
package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

//go:embed guesses.txt
var list string

// guess is a line of guesses.txt.
type guess struct {
	id, job, command, verdict string
	first, then               expected
	thenCommand               string
}

// expected is what a command does: how many files it makes, changes and removes, and what it prints.
type expected struct {
	files   string
	pattern string
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run builds stchat, tries the guesses, and prints what came of them.
func run(out io.Writer) error {
	dir, err := os.MkdirTemp("", "stchat-guesses-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "bin", "stchat")
	build := exec.Command("go", "build", "-o", program, "stchat/cmd/stchat")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	demo, err := demoFolder()
	if err != nil {
		return err
	}

	guesses, err := parse(list)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	worse := 0
	for i, g := range guesses {
		user := filepath.Join(dir, strconv.Itoa(i), "user")
		if err := prepare(demo, user); err != nil {
			return err
		}
		got, why, err := g.try(filepath.Dir(program), user)
		if err != nil {
			return err
		}
		counts[got]++
		if rank(got) > rank(g.verdict) {
			worse++
			fmt.Fprintf(out, "%s. %s: %s: %s, expected %s: %s\n", g.id, g.job, g.command, got, g.verdict, why)
		}
	}
	fmt.Fprintf(out, "%d guesses: %d right, %d after one error, %d wrong\n", len(guesses), counts["right"], counts["one"], counts["wrong"])
	if worse > 0 {
		return fmt.Errorf("%d guesses are worse than guesses.txt says", worse)
	}
	return nil
}

// rank orders verdicts, the best first.
func rank(verdict string) int {
	switch verdict {
	case "right":
		return 0
	case "one":
		return 1
	}
	return 2
}

// demoFolder returns the user folder of the demo.
func demoFolder() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", err
	}
	return filepath.Join(strings.TrimSpace(string(out)), "testdata", "demo"), nil
}

// parse reads the list.
func parse(text string) (guesses []guess, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, " | ")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if len(fields) == 5 { // the pattern is empty
			fields = append(fields, "")
		}
		if len(fields) != 6 && len(fields) != 9 {
			return nil, fmt.Errorf("%d fields: %s", len(fields), line)
		}
		g := guess{id: fields[0], job: fields[1], command: fields[2], verdict: fields[3], first: expected{fields[4], fields[5]}}
		if len(fields) == 9 {
			g.thenCommand, g.then = fields[6], expected{fields[7], fields[8]}
		}
		guesses = append(guesses, g)
	}
	return guesses, nil
}

// prepare makes a folder to guess in: the demo, a copy of it as that of a phone, and files to import.
func prepare(demo, user string) error {
	for _, dir := range []string{user, filepath.Join(filepath.Dir(user), "phone")} {
		if err := os.CopyFS(dir, os.DirFS(demo)); err != nil {
			return err
		}
		if err := os.RemoveAll(filepath.Join(dir, "luker")); err != nil {
			return err
		}
	}
	gpt := `[{"title":"Fog","create_time":1767225600,"mapping":{"a":{"id":"a","parent":null,"message":{"author":{"role":"user"},"create_time":1767225600,"content":{"content_type":"text","parts":["Hello?"]}}},"b":{"id":"b","parent":"a","message":{"author":{"role":"assistant"},"create_time":1767225601,"content":{"content_type":"text","parts":["Hello."]}}}}}]`
	if err := os.WriteFile(filepath.Join(user, "gpt.json"), []byte(gpt), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(user, "talk.txt"), []byte("Ines: Hello?\nMaren Holm: Mind the ninth step.\n"), 0o666)
}

// try runs a guess, and returns the verdict on it and why.
func (g *guess) try(bin, user string) (verdict, why string, err error) {
	before, err := snapshot(user)
	if err != nil {
		return "", "", err
	}
	out, code := shell(bin, user, g.command)
	why, err = g.first.judge(before, user, out)
	if err != nil {
		return "", "", err
	}
	failed := code != 0 && code != 1
	if why == "" && !failed {
		return "right", "", nil
	}
	if why != "" || g.thenCommand == "" {
		return "wrong", why + " exit " + strconv.Itoa(code), nil
	}

	out, code = shell(bin, user, g.thenCommand)
	why, err = g.then.judge(before, user, out)
	if err != nil {
		return "", "", err
	}
	if why != "" || code > 1 {
		return "wrong", fmt.Sprintf("%s: %s exit %d", g.thenCommand, why, code), nil
	}
	return "one", "", nil
}

// judge says what is not as expected, "" if all is.
func (e expected) judge(before map[string]string, user, out string) (string, error) {
	after, err := snapshot(user)
	if err != nil {
		return "", err
	}
	if files := changes(before, after); files != e.files {
		return "files " + files + ", not " + e.files + ": " + out, nil
	}
	matches, err := regexp.MatchString("(?m)"+e.pattern, out)
	if err != nil {
		return "", err
	}
	if !matches {
		return "it prints " + out, nil
	}
	return "", nil
}

// shell runs a command as a user types it.
func shell(bin, user, command string) (out string, code int) {
	chats := filepath.Join("chats", "Maren Holm", "Maren Holm - 2026-03-01@18h42m07s311ms")
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = user
	cmd.Env = append(
		os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "TZ=UTC", "STCHAT_NO_SYNC=1",
		"M="+chats+".jsonl", "B1="+chats+" - Branch #1.jsonl", "B2="+chats+" - Branch #2.jsonl",
		"C="+filepath.Join("chats", "Maren Holm", "Before the storm.jsonl"),
		"S="+filepath.Join("chats", "汐見 栞", "汐見 栞 - 2026-03-05@16h20m33s090ms.jsonl"),
		"G="+filepath.Join("group chats", "2026-03-09@19h05m12s004ms.jsonl"),
	)
	text, _ := cmd.CombinedOutput() // the code says what went wrong
	return string(text), cmd.ProcessState.ExitCode()
}

// snapshot returns the contents of the files in a folder, but of .stchat.
func snapshot(dir string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".stchat" {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	return files, err
}

// changes counts the files that were made, changed and removed.
func changes(before, after map[string]string) string {
	var made, changed, removed int
	for path, text := range after {
		old, was := before[path]
		switch {
		case !was:
			made++
		case old != text:
			changed++
		}
	}

	for path := range before {
		if _, is := after[path]; !is {
			removed++
		}
	}
	return fmt.Sprintf("%d %d %d", made, changed, removed)
}
