package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// shellBlocks returns the fenced sh blocks of a page.
func shellBlocks(page string) (blocks []string) {
	for i, part := range strings.Split(page, "\n```") {
		if code, ok := strings.CutPrefix(part, "sh\n"); ok && i%2 == 1 {
			blocks = append(blocks, code)
		}
	}
	return blocks
}

// TestScale runs the commands of docs/scale.md twice on an archive of three users:
// a script for Slurm as each of its tasks, and what needs GNU parallel where that
// is installed. Nothing fails, the parts make the whole, and the second run
// makes nothing more. What a task takes does not depend on how many others there
// are in the same call of sbatch. That call itself is tried by scripts/slurm.
func TestScale(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the page is for POSIX shells")
	}
	dir := t.TempDir()
	for _, user := range []string{"ann", "ben", "cleo"} {
		if err := os.CopyFS(filepath.Join(dir, "archive", user), os.DirFS(filepath.Join("..", "..", "testdata", "demo"))); err != nil {
			t.Fatal(err)
		}
	}
	said, _ := exec.Command("parallel", "--version").Output() // another program of this name does not know the flag
	parallel := strings.HasPrefix(string(said), "GNU parallel ")
	script := func(code string, env ...string) {
		t.Helper()
		cmd := exec.Command("sh", "-c", code)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s\n%v\n%s", code, err, out)
		}
	}
	blocks := shellBlocks(string(read(t, filepath.Join("..", "..", "docs", "scale.md"))))
	if len(blocks) < 6 {
		t.Fatalf("the page has %d blocks", len(blocks))
	}
	for range 2 {
		for _, code := range blocks {
			switch {
			case strings.HasPrefix(code, "#!/bin/sh\n") && strings.Contains(code, "--array=1-8\n"):
				for task := 1; task <= 8; task++ {
					script(code, fmt.Sprint("SLURM_ARRAY_TASK_ID=", task), "SLURM_ARRAY_TASK_COUNT=1", "SLURM_CPUS_PER_TASK=2")
				}
			case strings.Contains(code, "sbatch "):
			case parallel || !strings.HasPrefix(code, "parallel ") && !strings.Contains(code, "\nparallel ") && !strings.HasPrefix(code, "grep "):
				script(code)
			}
		}
	}
	script(`stchat inspect archive --json | grep -v '"summary":true' | LC_ALL=C sort > whole.jsonl && [ -s whole.jsonl ] && cmp whole.jsonl archive.jsonl`)
	if !parallel {
		t.Skip("GNU parallel is not installed: what needs it was not run")
	}
	made, err := filepath.Glob(filepath.Join(dir, "archive", "*", "chats", "*", "*__*.jsonl"))
	if want := 3 * 6; err != nil || len(made) != want {
		t.Errorf("%d checkpoints, want %d: %v", len(made), want, made)
	}
	count := func(files string) (chats int) {
		paths, err := filepath.Glob(filepath.Join(dir, files))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			chats += strings.Count(string(read(t, path)), `"name":"Maren Holm`)
		}
		return chats
	}
	if whole, parts := count("inspect.jsonl"), count("inspect-?.jsonl"); whole == 0 || whole != parts {
		t.Errorf("inspect tells of %d chats, its parts of %d", whole, parts)
	}
	if n := count("made-?.jsonl"); n == 0 {
		t.Error("the second run tells nothing of what exists already")
	}
}
