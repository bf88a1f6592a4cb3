package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMergeAsks merges on a terminal: what would come is shown and asked about if it is more than one file.
func TestMergeAsks(t *testing.T) {
	const line = `{"chat_metadata":{}}` + "\n" + `{"name":"M","is_user":true,"mes":"a"}`
	merge := func(answer string, files ...string) (into, out, errs string, code int) {
		t.Helper()
		dir := t.TempDir()
		into = filepath.Join(dir, "pc", "chats", "Mira")
		from := filepath.Join(dir, "phone", "chats", "Mira")
		for _, folder := range []string{into, from} {
			if err := os.MkdirAll(folder, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		for _, file := range files {
			if err := os.WriteFile(filepath.Join(from, file), []byte(line), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		e := env{
			In: strings.NewReader(answer), InTTY: true, Out: &stdout, OutTTY: true, Err: &stderr, ErrTTY: true, Width: 80,
			Getenv: func(string) string { return "" }, Now: time.Now,
		}
		code = run(context.Background(), e, []string{"merge", into, from, "--color", "never"})
		return into, stdout.String(), stderr.String(), code
	}
	count := func(folder string) int {
		found, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}

	into, out, errs, code := merge("\n", "a.jsonl", "b.jsonl")
	if code != 1 || count(into) != 0 || !strings.Contains(out, "+  chats/Mira/b.jsonl") || !strings.Contains(errs, "Change or make 2 files in ") {
		t.Errorf("unasked: %d, %d files\n%s%s", code, count(into), out, errs)
	}
	into, out, errs, code = merge("y\n", "a.jsonl", "b.jsonl")
	if code != 0 || count(into) != 2 || strings.Count(out, "chats/Mira/b.jsonl") != 1 || !strings.Contains(out, "\nmerged 2 changes of Mira") {
		t.Errorf("asked: %d, %d files\n%s%s", code, count(into), out, errs)
	}
	into, out, errs, code = merge("", "a.jsonl")
	if code != 0 || count(into) != 1 || strings.Contains(errs, "[y/N]") {
		t.Errorf("one file: %d, %d files\n%s%s", code, count(into), out, errs)
	}
}

func TestMergeRoot(t *testing.T) {
	user := filepath.Join(t.TempDir(), "user")
	for _, folder := range []string{"chats/Dr. No", "groups"} {
		if err := os.MkdirAll(filepath.Join(user, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, into := range []string{".", "chats/Dr. No", "chats/Dr. No/A.jsonl", "groups/1.json"} {
		if got := mergeRoot(filepath.Join(user, into)); got != user {
			t.Errorf("%s: paths are shown from %s", into, got)
		}
	}
}
