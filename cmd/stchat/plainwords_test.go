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

// isKnownWord reports whether a text needs one of the words: names of flags, which are what they are.
func isKnownWord(text string) bool {
	return strings.Contains(text, "--mend") || strings.HasPrefix(text, "mend needs ")
}
