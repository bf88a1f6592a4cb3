package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stchat/internal/ops/bring/convert"
)

// TestReadme does what the README tells its readers to do, in a copy of the
// repository's testdata: every "$ " line of its console blocks, whose output is
// compared. So it does with the pages in docs.
func TestReadme(t *testing.T) {
	repo := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(repo, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, filepath.Join(repo, "README.md")) {
		sessions := consoleBlocks(string(read(t, page)))
		if len(sessions) == 0 {
			if filepath.Base(page) == "README.md" {
				t.Errorf("%s has no console block to try", page)
			}
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			for _, steps := range sessions {
				sh := &session{t: t, dir: t.TempDir()}
				if err := os.CopyFS(filepath.Join(sh.dir, "testdata"), os.DirFS(filepath.Join(repo, "testdata"))); err != nil {
					t.Fatal(err)
				}
				for _, s := range steps {
					sh.try(s)
				}
			}
		})
	}
}

// TestCommandsAreInReadme holds that the README's table has every command that help lists.
func TestCommandsAreInReadme(t *testing.T) {
	readme := string(read(t, filepath.Join("..", "..", "README.md")))
	_, table, _ := strings.Cut(readme, "\n## Commands\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, v := range verbs() {
		if !v.make().hidden && !strings.Contains(table, "`"+v.name) {
			t.Errorf("the table of commands in README.md has no %s", v.name)
		}
	}
}

// TestImportFormatsAreInDocs holds that docs/import.md describes each format that import reads.
func TestImportFormatsAreInDocs(t *testing.T) {
	page := string(read(t, filepath.Join("..", "..", "docs", "import.md")))
	for _, name := range convert.Formats() {
		if !strings.Contains(page, "| `"+name+"` |") {
			t.Errorf("the table of formats in docs/import.md has no %s", name)
		}
	}
}

// TestPagesInComments holds that a page which a comment names is in the repository. FORMATS.md is not: it is
// the page on how SillyTavern and the extensions keep their data, and it is older than the program.
func TestPagesInComments(t *testing.T) {
	known := map[string]bool{"FORMATS.md": true}
	root := filepath.Join("..", "..")
	page := regexp.MustCompile(`[\w./-]+\.md\b`)
	var sources []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".md":
			known[entry.Name()] = true
		case ".go":
			sources = append(sources, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, path := range sources {
		for number, line := range strings.Split(string(read(t, path)), "\n") {
			_, comment, _ := strings.Cut(line, "// ")
			for _, name := range page.FindAllString(comment, -1) {
				if !known[filepath.Base(name)] {
					t.Errorf("%s:%d names %s, which is not in the repository", path, number+1, name)
				}
			}
		}
	}
}

// step is one command of a console block and the lines shown below it.
type step struct {
	line    int
	command string
	output  []string
	shown   bool // its output is that on a terminal of 80 columns
}

// consoleBlocks returns the sessions of a page: its fenced console blocks, where one that says
// "continued" goes on with the one before and one that says "terminal" shows what a terminal
// shows. The program may also be run with go run.
func consoleBlocks(page string) (sessions [][]step) {
	var block []step
	inside, shown := false, false
	number := 0
	for line := range strings.Lines(page) {
		number++
		line = strings.TrimRight(line, "\r\n")
		switch {
		case !inside && strings.HasPrefix(line+" ", "```console "):
			inside, block, shown = true, nil, strings.Contains(line, " terminal")
			if strings.HasSuffix(line, " continued") {
				block, sessions = sessions[len(sessions)-1], sessions[:len(sessions)-1]
			}
		case inside && line == "```":
			inside = false
			sessions = append(sessions, block)
		case inside && strings.HasPrefix(line, "$ "):
			command := strings.Replace(line[2:], "go run ./cmd/stchat ", "stchat ", 1)
			block = append(block, step{line: number, command: command, shown: shown})
		case inside && len(block) > 0:
			last := &block[len(block)-1]
			last.output = append(last.output, line)
		}
	}
	return sessions
}

// session is a shell as far as a console block needs one: cd, cp -r, rm and stchat, words
// with quotes and wildcards.
type session struct {
	t   *testing.T
	dir string
}

func (sh *session) try(s step) {
	sh.t.Helper()
	words, err := sh.words(s.command)
	if err != nil {
		sh.t.Fatalf("line %d: %s: %v", s.line, s.command, err)
	}
	if words[0] == "cd" && len(words) == 2 {
		sh.dir = filepath.Join(sh.dir, filepath.FromSlash(words[1]))
		return
	}
	if words[0] == "rm" && len(words) == 2 {
		if err := os.Remove(filepath.Join(sh.dir, filepath.FromSlash(words[1]))); err != nil {
			sh.t.Fatalf("line %d: %v", s.line, err)
		}
		return
	}
	if words[0] == "cp" && len(words) == 4 && words[1] == "-r" {
		if err := os.CopyFS(filepath.Join(sh.dir, filepath.FromSlash(words[3])), os.DirFS(filepath.Join(sh.dir, filepath.FromSlash(words[2])))); err != nil {
			sh.t.Fatalf("line %d: %v", s.line, err)
		}
		return
	}
	if words[0] != "stchat" {
		sh.t.Fatalf("line %d: %s: this shell knows cd, cp -r, rm and stchat only", s.line, s.command)
	}
	cmd := exec.Command("stchat", words[1:]...)
	cmd.Dir = sh.dir
	run := cmd.CombinedOutput
	if s.shown {
		cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "STCHAT_PAGER=", "TZ=UTC", "LC_ALL=C.UTF-8")
		run = func() ([]byte, error) { return onTerminal(cmd) }
	}
	out, err := run()
	if s.shown && errors.Is(err, errors.ErrUnsupported) { // it is run all the same, for the steps below
		out, err = cmd.CombinedOutput()
		s.output = []string{"..."}
	}
	_, failed := errors.AsType[*exec.ExitError](err)
	if misused := bytes.HasSuffix(out, []byte(" for usage.\n")); misused || err != nil && !failed {
		sh.t.Errorf("line %d: %s: %v\n%s", s.line, s.command, err, out)
	}
	if !asShown(s.output, string(out)) {
		sh.t.Errorf("line %d: %s gives\n%s", s.line, s.command, out)
	}
}

// On 2026-11-28 the examples ran: what is shown of that day stands for any time and any run.
var (
	exampleTime = regexp.MustCompile(`2026-11-28 \d\d:\d\d`)
	exampleRun  = regexp.MustCompile(`20261128T\d{6}-[0-9a-f]{8}`)
)

// asShown compares output with what is shown: "..." stands for any text, and on
// a line of its own for any lines.
func asShown(shown []string, output string) bool {
	var pattern strings.Builder
	for _, line := range shown {
		if line == "..." {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		for i, piece := range strings.Split(line, "...") {
			if i > 0 {
				pattern.WriteString(".*")
			}
			piece = exampleTime.ReplaceAllString(regexp.QuoteMeta(piece), `\d{4}-\d\d-\d\d \d\d:\d\d`)
			pattern.WriteString(exampleRun.ReplaceAllString(piece, `\d{8}T\d{6}-[0-9a-f]{8}`))
		}
		pattern.WriteString(`\n`)
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(output)
}

// words splits a command as a shell does.
func (sh *session) words(command string) (words []string, err error) {
	for rest := strings.TrimLeft(command, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		// the word, and the same as a pattern, in which what is quoted is literal
		var word, pattern bytes.Buffer
		var quote byte
		wild := false
		for ; rest != "" && (quote != 0 || rest[0] != ' '); rest = rest[1:] {
			c := rest[0]
			switch {
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
				continue
			case quote != 0 && c == quote:
				quote = 0
				continue
			case quote != '\'' && strings.IndexByte("\\$`", c) >= 0, quote == 0 && strings.IndexByte("|&;<>()#~", c) >= 0:
				return nil, fmt.Errorf("this shell does not know %q", c)
			case quote == 0 && strings.IndexByte("*?[", c) >= 0:
				wild = true
			case strings.IndexByte("*?[", c) >= 0:
				pattern.WriteString("[" + string(c) + "]")
				word.WriteByte(c)
				continue
			}
			pattern.WriteByte(c)
			word.WriteByte(c)
		}
		if quote != 0 {
			return nil, fmt.Errorf("the quote %c is not closed", quote)
		}
		if !wild {
			words = append(words, word.String())
			continue
		}
		found, err := filepath.Glob(filepath.Join(sh.dir, filepath.FromSlash(pattern.String())))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("%s: no such files, %w", word.String(), err)
		}
		for _, path := range found {
			rel, err := filepath.Rel(sh.dir, path)
			if err != nil {
				return nil, err
			}
			words = append(words, filepath.ToSlash(rel))
		}
	}
	if len(words) == 0 {
		return nil, errors.New("there is no command")
	}
	return words, nil
}

func TestAsShown(t *testing.T) {
	tests := []struct {
		shown  []string
		output string
		want   bool
	}{
		{nil, "", true},
		{nil, "a\n", false},
		{[]string{"a"}, "a\n", true},
		{[]string{"a"}, "a\nb\n", false},
		{[]string{"a*"}, "aa\n", false},
		{[]string{"..."}, "", true},
		{[]string{"a", "...", "z"}, "a\nb\nc\nz\n", true},
		{[]string{"a", "...", "z"}, "a\nb\n", false},
		{[]string{"a ... z"}, "a b z\n", true},
		{[]string{"at 2026-11-28 12:41"}, "at 2027-01-02 03:04\n", true},
		{[]string{"at 2026-03-01 12:41"}, "at 2027-01-02 03:04\n", false},
		{[]string{"a ... z"}, "a b\nz\n", false},
	}
	for _, tt := range tests {
		if got := asShown(tt.shown, tt.output); got != tt.want {
			t.Errorf("%q, %q: %v", tt.shown, tt.output, got)
		}
	}
}
