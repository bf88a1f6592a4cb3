package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"stchat/internal/text/visible"
)

// jargon is what no sentence to a person says: words of the code, of JSON and of --verbose.
var jargon = regexp.MustCompile(`(?i)\b(slugs?|sidecars?|floors?|forks?|vary|varies|mend(s|ed|ing)?|quarantined?)\b|\bcore: |\bown messages\b`)

// inPages are files whose texts are pages, tables of keys, or for other programs.
var inPages = []string{
	"cmd/stchat/habits.go",  // the words that people type
	"cmd/stchat/schemas.go", // descriptions of documents
	"cmd/stchat/version.go", // versions of other programs
	"internal/extension/all/rows.go",
	"internal/history/",         // its tables
	"internal/show/treeview/",   // columns of the tree
	"internal/ops/publish/",     // columns of the index
	"internal/extension/luker/", // what Luker calls its files
}

// TestPlainWords: messages say it in SillyTavern's words and plain ones.
func TestPlainWords(t *testing.T) {
	repo := filepath.Join("..", "..")
	see := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		place, err := filepath.Rel(repo, path)
		if err != nil {
			return err
		}
		place = filepath.ToSlash(place)
		isPage := func(beginning string) bool { return strings.HasPrefix(place, beginning) }
		if slices.ContainsFunc(inPages, isPage) {
			return nil
		}

		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING || strings.HasPrefix(literal.Value, "`") { // pages of help, patterns
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			isSentence := strings.Contains(text, " ")
			if word := jargon.FindString(text); err == nil && isSentence && word != "" && !isKnownWord(text) {
				t.Errorf("%s: %q says %q", files.Position(literal.Pos()), text, word)
			}
			return true
		})
		return nil
	}
	for _, folder := range []string{"cmd/stchat", "internal"} {
		if err := filepath.WalkDir(filepath.Join(repo, filepath.FromSlash(folder)), see); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPlainHelp: so does help. That has three examples of each command, names others, and has at most six lines
// of text without --verbose, which shows all.
func TestPlainHelp(t *testing.T) {
	root := newRoot(newConsole(env{Getenv: func(string) string { return "" }}, nil))
	var see func(cmd *cobra.Command)
	see = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			see(sub)
		}
		isPage := cmd.HasParent() && !cmd.Hidden && cmd.Name() != "help"
		if !isPage {
			return
		}
		page := func(whole bool) string {
			var b strings.Builder
			h := &helpPage{w: &b, width: helpWidth, whole: whole}
			h.write(cmd)
			return b.String()
		}

		help := page(false)
		name := cmd.CommandPath()
		if n := strings.Count(cmd.Example, "\n") + 1; n != 3 {
			t.Errorf("%s has %d examples", name, n)
		}
		if !strings.Contains(help, "\nSee also    ") {
			t.Errorf("%s names no other command", name)
		}
		_, text, _ := strings.Cut(help, cmd.Example+"\n\n")
		text, _, _ = strings.Cut(text, "\n\n")
		if n := strings.Count(text, "\n") + 1; n < 2 || n > 6 {
			t.Errorf("%s has %d lines of text:\n%s", name, n, text)
		}
		if n := strings.Count(help, "\n"); n > 60 {
			t.Errorf("%s has %d lines of help", name, n)
		}

		whole := page(true)
		if more := strings.TrimSpace(cmd.Annotations[leftOut]); !strings.Contains(whole, more) || more != "" && strings.Contains(help, more) {
			t.Errorf("%s: its details belong where --verbose is given:\n%s", name, whole)
		}
		plain := strings.ReplaceAll(whole, "--mend", "")
		if word := jargon.FindString(plain); word != "" {
			t.Errorf("%s says %q", name, word)
		}
		_, text, _ = strings.Cut(whole, cmd.Example+"\n\n")
		for line := range strings.Lines(text) {
			if visible.Width(strings.TrimSuffix(line, "\n")) > helpWidth {
				t.Errorf("%s: a line is too long: %s", name, line)
			}
		}
	}
	see(root)
}

// isKnownWord reports whether a text needs one of the words: names of flags, which are what they are.
func isKnownWord(text string) bool {
	return strings.Contains(text, "--mend") || strings.HasPrefix(text, "mend needs ")
}
