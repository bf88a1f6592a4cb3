package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestRooms holds the table of rooms in docs/layout.md: a package imports only packages of its own
// room and of rooms in a row below, and each room has a package comment that says what it is for.
func TestRooms(t *testing.T) {
	top := filepath.Join("..", "..")
	rows := roomRows(t, filepath.Join(top, "docs", "layout.md"))
	imports := 0
	packages := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(top, "internal"), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(top, filepath.Dir(file))
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(rel)
		packages[folder] = true
		row, room, ok := roomOf(rows, folder)
		if !ok {
			t.Errorf("%s is in no room of docs/layout.md", folder)
			return nil
		}

		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range source.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			other, own := strings.CutPrefix(imported, "stchat/")
			if !own {
				continue
			}
			imports++
			otherRow, otherRoom, ok := roomOf(rows, other)
			below := ok && (otherRoom == room || otherRow > row)
			if !below {
				t.Errorf("%s imports %s, which is not below it", file, other)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if imports == 0 {
		t.Error("no import of a package of this program was found")
	}
	for _, row := range rows {
		for _, room := range row {
			if room != "cmd/stchat" && !packages[room] {
				t.Errorf("%s has no doc.go", room)
			}
		}
	}
}

// roomRows returns the rooms of each row of the first table in docs/layout.md, from the top.
func roomRows(t *testing.T, page string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile("`((?:cmd|internal)/[a-z/]+)`")
	_, table, ok := strings.Cut(string(text), "| room | what lives there |\n|---|---|\n")
	if !ok {
		t.Fatal("docs/layout.md has no table of rooms")
	}
	for line := range strings.Lines(table) {
		cell, _, ok := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		if !ok {
			break
		}
		var row []string
		for _, found := range name.FindAllStringSubmatch(cell, -1) {
			row = append(row, found[1])
		}
		if len(row) == 0 {
			t.Fatalf("docs/layout.md: no room in %q", line)
		}
		rows = append(rows, row)
	}
	return rows
}

// roomOf returns the row and the room that a folder is in.
func roomOf(rows [][]string, folder string) (row int, room string, ok bool) {
	for at := folder; at != "."; at = path.Dir(at) {
		for i, rooms := range rows {
			for _, name := range rooms {
				if name == at {
					return i, name, true
				}
			}
		}
	}
	return 0, "", false
}
