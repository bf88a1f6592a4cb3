package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// fieldsOf returns the lines of a file of testdata/oldflags, divided at their bars.
func fieldsOf(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	for line := range strings.Lines(string(read(t, filepath.Join("testdata", "oldflags", name)))) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		rows = append(rows, fields)
	}
	return rows
}

// TestOldFlags: docs/flags.md says what replaced every removed flag, and has no flag that is there. The page is
// written with go test ./cmd/stchat -run TestOldFlags -update.
func TestOldFlags(t *testing.T) {
	instead := map[string]string{}
	for _, row := range fieldsOf(t, "instead.txt") {
		instead[row[0]] = row[1]
	}
	gone := map[string][]string{} // commands by flag
	var renamed []string
	for _, row := range fieldsOf(t, "commands.txt") {
		old, now := row[0], row[1]
		if old != now {
			renamed = append(renamed, fmt.Sprintf("| `%s` | `%s` |", old, now))
		}
		known := commandFlags(t, now)
		for name := range strings.FieldsSeq(row[2]) {
			if !slices.Contains(known, name) {
				gone[name] = append(gone[name], old)
			}
		}
	}

	var page strings.Builder
	page.WriteString("# What replaced the removed commands and flags\n\n")
	page.WriteString("| command | now |\n|---|---|\n" + strings.Join(renamed, "\n") + "\n\n")
	page.WriteString("| flag | of | now |\n|---|---|---|\n")
	var names []string
	for name := range gone {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		now := cmp.Or(instead[name], "")
		if now == "" {
			t.Errorf("--%s of %s: nothing says what replaced it", name, strings.Join(gone[name], ", "))
		}
		if now == "-" {
			now = "nothing"
		}
		fmt.Fprintf(&page, "| `--%s` | %s | %s |\n", name, strings.Join(gone[name], ", "), now)
	}

	path := filepath.Join("..", "..", "docs", "flags.md")
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(read(t, path)) != page.String() {
		t.Error("docs/flags.md is not what -update writes")
	}
}

// commandFlags returns the names of all flags of a command.
func commandFlags(t *testing.T, path string) []string {
	t.Helper()
	root := newRoot(&console{})
	words := strings.Fields(path)
	cmd, rest, err := root.Find(words)
	if err != nil || len(rest) > 0 || cmd == root {
		t.Fatalf("there is no command %q", path)
	}
	var names []string
	for c := cmd; c != nil; c = c.Parent() {
		names = append(names, flagNames(c)...)
	}
	return names
}

// TestFewFlags counts commands and flags; the goals of the surface are 45 lines of help in the middle, 400
// flags beside those of every command, and 205 names.
func TestFewFlags(t *testing.T) {
	all, lines := 0, []int{}
	names := map[string]bool{}
	var see func(cmd *cobra.Command)
	see = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			see(below)
		}
		if !cmd.IsAvailableCommand() || cmd.HasAvailableSubCommands() || !cmd.HasParent() {
			return
		}
		every := cmd.Root().PersistentFlags()
		for _, topic := range topicsOf(cmd) {
			for _, f := range topic.flags {
				if every.Lookup(f.Name) == nil {
					all++
					names[f.Name] = true
				}
			}
		}
		var text strings.Builder
		c := newConsole(env{Out: &text, Getenv: func(string) string { return "" }}, nil)
		newHelpPage(c).write(cmd)
		c.flush()
		n := strings.Count(text.String(), "\n")
		if n > 60 {
			t.Errorf("the help of %s has %d lines", cmd.CommandPath(), n)
		}
		lines = append(lines, n)
	}
	see(newRoot(&console{}))
	slices.Sort(lines)
	t.Logf("%d commands, %d flags, %d names; the help in the middle has %d lines, the longest %d", len(lines), all, len(names), lines[len(lines)/2], lines[len(lines)-1])
	const mostFlags, mostNames, mostLines = 400, 120, 45
	if all > mostFlags {
		t.Errorf("there are %d flags, and more than %d are too many to learn: take some out, or say why not and raise the number here", all, mostFlags)
	}
	if len(names) > mostNames {
		t.Errorf("flags have %d names, and may have %d: call the new one as another command calls the same thing, or raise the number here", len(names), mostNames)
	}
	if middle := lines[len(lines)/2]; middle > mostLines {
		t.Errorf("the help in the middle has %d lines, and may have %d", middle, mostLines)
	}
}
