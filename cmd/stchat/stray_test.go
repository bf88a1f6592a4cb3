package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// writingCalls are calls of every command that writes, which succeed in the folder of strayWorld. What stands
// behind "|" is flags.
func writingCalls() []string {
	return []string{
		"add Mira/A more.json",
		"add Mira/A | --role user --text x",
		"branch Mira/A",
		"branch Mira/A 0 fork",
		"checkpoint Mira/A 0 point",
		"clone-lorebook worlds/Sea.json",
		"copy Mira/A Second",
		"delete Mira/A 1",
		"edit Mira/A 1 text",
		"edit Mira/A 0.. | --set mes=x",
		"export Mira/A | -o out.html",
		"hide Mira/A 1",
		"import talk.txt Mira | --user Tom",
		"join Mira/A Mira/B",
		"meta set Mira/A note=x",
		"move Mira/A Ines",
		"new Mira",
		"open Mira/B",
		"rename Mira/A Other",
		"replace lamp light Mira/A",
		"replace lamp light Mira/A 0",
		"rm Mira/A",
		"rm Mira/A Mira/B | -y",
		"slim Mira/A",
		"snapshot chats/Mira",
		"split Mira/A 1",
		"swipe Mira/A 0 2",
		"swipe Mira/A 0 | --add x",
		"unhide Mira/A 1",
	}
}

// strayWorld makes a user folder.
func strayWorld(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	const header = `{"chat_metadata":{"integrity":"a"},"user_name":"unused","character_name":"unused"}` + "\n"
	const talk = `{"name":"Mira","is_user":false,"is_system":false,"mes":"A lamp.","swipe_id":0,"swipes":["A lamp.","A light."]}` + "\n" +
		`{"name":"Tom","is_user":true,"is_system":true,"mes":"one"}` + "\n"
	for path, text := range map[string]string{
		"settings.json":         "{}",
		"worlds/Sea.json":       `{"entries":{}}`,
		"characters/Ines.json":  `{"name":"Ines"}`,
		"characters/Mira.json":  `{"name":"Mira","chat":"A"}`,
		"chats/Mira/A.jsonl":    header + strings.ReplaceAll(talk, "one", "said in A alone, by Tom"),
		"chats/Mira/B.jsonl":    header + talk,
		"more.json":             `{"name":"Tom","is_user":true,"mes":"two"}`,
		"talk.txt":              "Tom: Hello?\nMira: Hello.\n",
		"chats/Ines/only.jsonl": header + talk,
	} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// contentsOf returns the contents of all files in a folder, but of what the program keeps for itself.
func contentsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// call runs the program without a terminal.
func call(args []string) (out, errs string, code int) {
	var stdout, stderr bytes.Buffer
	e := env{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr, Now: time.Now,
		Getenv: func(name string) string { return map[string]string{noSyncVariable: "1"}[name] },
	}
	code = run(context.Background(), e, args)
	return stdout.String(), stderr.String(), code
}

// TestStrayArguments: a word that means nothing, a number, a file that is not there, or an empty argument, in
// whatever place of a call that writes, ends it with exit code 2 and one line, and nothing is done.
func TestStrayArguments(t *testing.T) {
	if testing.Short() {
		t.Skip("several hundred calls")
	}
	for _, line := range writingCalls() {
		words, flags, _ := strings.Cut(line, "|")
		args := strings.Fields(words)
		verb := 1
		if args[0] == "meta" {
			verb = 2
		}

		t.Chdir(strayWorld(t))
		if out, errs, code := call(slices.Concat(args, strings.Fields(flags))); code != 0 {
			t.Fatalf("%s: exit %d\n%s%s", line, code, out, errs)
		}

		dir := strayWorld(t)
		t.Chdir(dir)
		before := contentsOf(t, dir)
		for _, stray := range []string{"nosuchword", "77", "chats/Mira/none.jsonl", ""} {
			for at := verb; at <= len(args); at++ {
				given := slices.Concat(slices.Insert(slices.Clone(args), at, stray), strings.Fields(flags))
				out, errs, code := call(given)
				if code != 2 || out != "" {
					t.Errorf("%q: exit %d\n%s%s", given, code, out, errs)
				}
				if lines := strings.Count(strings.TrimSuffix(errs, "\n"), "\n"); errs == "" || lines > 1 {
					t.Errorf("%q says\n%s", given, errs)
				}
				if diff := cmp.Diff(before, contentsOf(t, dir)); diff != "" {
					t.Fatalf("%q wrote (-was +is):\n%s", given, diff)
				}
			}
		}
	}
}

// TestQuestionsWithoutTerminal: what is asked on a terminal is exit code 2 without one, names -y, and does
// nothing.
func TestQuestionsWithoutTerminal(t *testing.T) {
	for _, args := range [][]string{
		{"rm", "Mira/A", "Mira/B"},
		{"rm", "Mira/*"},
		{"delete", "Mira/A", "Mira/B", "1"},
		{"repair"},
		{"undo", "--keep", "0"},
		{"store", "--forget", "Mira/A"},
		{"lost", "--restore"},
	} {
		dir := strayWorld(t)
		t.Chdir(dir)
		torn := filepath.Join("chats", "Mira", "A.jsonl")
		data, err := os.ReadFile(torn)
		if err != nil {
			t.Fatal(err)
		}
		if _, errs, code := call([]string{"snapshot"}); code != 0 {
			t.Fatal(errs)
		}
		if _, errs, code := call([]string{"hide", "Mira/A", "0"}); code != 0 {
			t.Fatal(errs)
		}
		switch args[0] {
		case "repair":
			err = os.WriteFile(torn, append(data, []byte(`{"name":"Mi`)...), 0o666)
		case "lost":
			err = os.Remove(torn)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := contentsOf(t, dir)
		out, errs, code := call(args)
		if code != 2 || !strings.Contains(errs, "-y does it without asking") {
			t.Errorf("%q: exit %d\n%s%s", args, code, out, errs)
		}
		if diff := cmp.Diff(before, contentsOf(t, dir)); diff != "" {
			t.Errorf("%q wrote (-was +is):\n%s", args, diff)
		}
	}
}

// TestFewArguments calls every command with none to three words that mean nothing: each call ends with an
// exit code, and none in a panic.
func TestFewArguments(t *testing.T) {
	t.Chdir(strayWorld(t))
	var try func(cmd *cobra.Command)
	try = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			try(below)
		}
		words := strings.Fields(cmd.CommandPath())[1:]
		if len(words) == 0 {
			return
		}
		for range 4 {
			if _, _, code := call(words); code > 2 {
				t.Errorf("%s: exit %d", strings.Join(words, " "), code)
			}
			words = append(slices.Clone(words), "nothing")
		}
	}
	try(newRoot(&console{env: env{}}))
}
