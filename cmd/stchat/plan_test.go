package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stchat/internal/text/visible"
)

// A person is told in few lines what goes; a pipe, and -v, get every file.
func TestPlan(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(filepath.Join("..", "..", "testdata", "demo"))); err != nil {
		t.Fatal(err)
	}
	width, locale := 100, "C.UTF-8"
	said := func(args ...string) (out, errs string) {
		var stdout, stderr bytes.Buffer
		run(context.Background(), env{
			In: strings.NewReader(""), Out: &stdout, Err: &stderr, OutTTY: true, ErrTTY: true, Width: width,
			Getenv: func(key string) string { return map[string]string{"LANG": locale, "NO_COLOR": "1"}[key] }, Now: time.Now,
		}, args)
		return stdout.String(), stderr.String()
	}
	if out, _ := said("snapshot", "--dry-run", root); !strings.Contains(out, "\n  Maren Holm   Before the storm, 2026-03-01 18:42, … - Branch #1, and 1 more\n") {
		t.Errorf("a snapshot tells\n%s", out)
	}
	for at, want := range map[int]string{60: "\n  Maren Holm   Before the storm, and 3 more\n", 24: "\n  …Holm     4 files\n"} {
		width = at
		if out, errs := said("snapshot", "--dry-run", root); !strings.Contains(out, want) || strings.Contains(errs, "0 B") {
			t.Errorf("at %d a snapshot tells\n%s%s", at, out, errs)
		}
	}
	width = 100
	chat := filepath.Join(root, "chats", "Maren Holm", "Before the storm.jsonl")
	out, _ := said("rm", "--dry-run", chat)
	const want = `would delete "Before the storm"
  files          1 chat, 48.5 kB
  edits          3 chats: 3 links
  lorebook       "z-AutoLB-Gull Rock__CP_Before the storm": no chat names it any more
  not touched    prompts in the browser, the vector index, an open tab
`
	if out != want {
		t.Errorf("a dry run tells\n%s\nnot\n%s", out, want)
	}
	out, errs := said("rm", "-v", "--dry-run", chat)
	if out != want || strings.Count(errs, "stchat: would ") != 4 {
		t.Errorf("-v tells\n%s%s", out, errs)
	}
	out, _ = said("rename", chat, "Calm")
	if !strings.HasPrefix(out, "renamed \"Before the storm\" to \"Calm\"\n") {
		t.Errorf("rename tells\n%s", out)
	}
	out, _ = said("rm", filepath.Join(root, "chats", "Maren Holm", "Maren Holm - 2026-03-01@18h42m07s311ms.jsonl"))
	if !strings.Contains(out, "1 card: 1 open chat") || !strings.Contains(out, "  opens     ") || !strings.Contains(out, " 'stchat undo --prune 20") {
		t.Errorf("delete tells\n%s", out)
	}
	if n := strings.Count(out, "\n"); n > 8 {
		t.Errorf("%d lines:\n%s", n, out)
	}
	out, _ = said("undo", "--data", root)
	if line, _, _ := strings.Cut(out, "\n"); visible.Width(line) > 100 {
		t.Errorf("undo breaks within words: %q", line)
	}
	if n := strings.Count(out, "\n"); n > 8 || !strings.Contains(out, "  restores       4 chats, 1 card\n") && !strings.Contains(out, "  restores       3 chats, 1 card\n") {
		t.Errorf("undo tells\n%s", out)
	}
	if !strings.Contains(out, "\n  opens          Maren Holm - 2026-03-01@18h42m07s311ms\n") { // as delete tells it, so that it is wrapped
		t.Errorf("undo tells\n%s", out)
	}
	width, locale, chat = 40, "C", filepath.Join(filepath.Dir(chat), "Calm.jsonl")
	out, _ = said("rename", "--dry-run", filepath.Join(filepath.Dir(chat), "Maren Holm - 2026-03-01@18h42m07s311ms.jsonl"), "Still")
	if !strings.HasPrefix(out, "would rename \"2026-03-01 18:42\" to\n  \"Still\"\n  files: ") {
		t.Errorf("on a narrow screen rename tells\n%s", out)
	}
	out, errs = said("edit", chat, "-a", "0", "--set", "mes=secret")
	list, _ := said("log", "--commands", "--data", root)
	if undo, _ := said("undo", "--data", root, "--dry-run"); visible.ASCII(list+undo) != list+undo || strings.Count(list+undo, "...") < 2 {
		t.Errorf("%s%s\na terminal without UTF-8 cannot show\n%s%s", out, errs, list, undo)
	}
	out, _ = said("rm", chat)
	if whole := regexp.MustCompile(`\n +"z-AutoLB-Gull Rock__CP_Before the storm":\n[^']*\n +'stchat undo --prune 20[^']*'\n`); !whole.MatchString(out) {
		t.Errorf("what is to be copied is broken:\n%s", out)
	}

	width = 100
	worlds := filepath.Join(root, "worlds")
	if err := os.Rename(filepath.Join(worlds, "Saltmere.json"), filepath.Join(worlds, "Salt.json")); err != nil {
		t.Fatal(err)
	}
	out, _ = said("rename", "--dry-run", filepath.Join(worlds, "Saltmere.json"), "Salt")
	if want := "would let \"Salt\" take over what names the lorebook \"Saltmere\"\n  edits "; !strings.HasPrefix(out, want) {
		t.Errorf("rename of a lorebook that is gone tells\n%s", out)
	}
}
