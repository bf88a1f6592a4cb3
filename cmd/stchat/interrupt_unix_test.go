//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stchat/internal/ops"
)

// interrupted starts the program in dir with a standard input that gives more than a
// pipe holds and then nothing more, and sends the signals once it reads.
func interrupted(t *testing.T, dir string, args []string, signals ...os.Signal) (code int, stderr string) {
	t.Helper()
	cmd := exec.Command("stchat", args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	// No pipe of ours holds a megabyte, so that the program reads when this is written.
	line := bytes.Repeat([]byte(" "), 1<<20)
	if _, err := in.Write(line); err != nil {
		t.Fatal(err)
	}
	for _, s := range signals {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	err = cmd.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatalf("stchat %q: %v", args, err)
	}
	return exit.ExitCode(), errs.String()
}

// TestInterruptedList: of many files that were not begun there is one line.
func TestInterruptedList(t *testing.T) {
	list := []string{filepath.Join("..", "..", "testdata", "demo")}
	chats := ops.Walk(ops.List{Paths: list}).Chats
	var files []string
	for _, c := range chats {
		files = append(files, c.Path)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ctx, stop := context.WithCancelCause(context.Background())
		stop(interruption{sig})
		for _, args := range [][]string{
			append([]string{"checkpoint", "--dry-run"}, files...),
			append([]string{"branch", "--dry-run"}, files...),
			append([]string{"clone-lorebook", "--dry-run"}, files...),
			append([]string{"edit", "-a", "1", "--set", "mes=x", "--dry-run"}, files...),
			append([]string{"hide", "-a", "1", "--dry-run"}, files...),
			append([]string{"delete", "-a", "1", "--dry-run"}, files...),
			append([]string{"meta", "set", "--set", "a=1", "--dry-run"}, files...),
			append([]string{"inspect"}, list...),
			append([]string{"inspect", "--messages"}, list...),
			append([]string{"check"}, list...),
			append([]string{"repair"}, list...),
			append([]string{"search", "harbour"}, list...),
			append([]string{"tree"}, list...),
			append([]string{"lost"}, list...),
		} {
			e, said := world(nil)
			e.Now = time.Now
			code := run(ctx, e, args)
			want := fmt.Sprintf("stchat: interrupted: 0 of %d files done, %[1]d not begun\n", len(files))
			if got := said.String(); code != 128+int(sig) || got != want {
				t.Errorf("%s: exit %d, %q; want %q", args[0], code, got, want)
			}
		}
		for _, args := range [][]string{ // these change all that they are given, or nothing
			{"rm", "--dry-run", files[0]},
			{"rename", "--dry-run", files[0], "Storm"},
			{"state", "set", "--delete", "--dry-run", files[0], "tides"},
			{"restore", "--dry-run", files[0]},
		} {
			e, said := world(nil)
			e.Now = time.Now
			if code := run(ctx, e, args); code != 128+int(sig) || said.String() != "stchat: interrupted\n" {
				t.Errorf("%s: exit %d, %q", args[0], code, said)
			}
		}
	}
}

// expiring is a context that is cancelled when it has been asked a number of times.
type expiring struct {
	context.Context
	left *atomic.Int64
}

func (e expiring) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterruptedHalfway: what was only read, or not kept yet, is not called done.
func TestInterruptedHalfway(t *testing.T) {
	demo := filepath.Join("..", "..", "testdata", "demo")
	for _, args := range [][]string{{"repair"}, {"snapshot"}} {
		halfway := 0
		for n := range int64(60) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(demo)); err != nil {
				t.Fatal(err)
			}
			e, said := world(nil)
			e.Now = time.Now
			var out bytes.Buffer
			e.Out = &out
			left := new(atomic.Int64)
			left.Store(n)
			if run(expiring{t.Context(), left}, e, append(slices.Clip(args), dir)); !strings.Contains(said.String(), "interrupted") {
				continue
			}
			var done, all, rest int
			if _, err := fmt.Sscanf(said.String(), "stchat: interrupted: %d of %d files done, %d not begun\n", &done, &all, &rest); err != nil {
				continue // it had not begun to count
			}
			halfway++
			if shown := strings.Count(out.String(), "\n"); done > shown || all < 6 || done+rest != all {
				t.Errorf("%s, %d: %q after %q", args[0], n, said, &out)
			}
		}
		if halfway == 0 {
			t.Errorf("%s was not interrupted halfway", args[0])
		}
	}
}

// TestInterruptedWork: what takes long in one place ends soon after a signal, too.
func TestInterruptedWork(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for programs to be at work")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var keys, copies strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&keys, `,"key%d":%d`, i, i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&copies, `,{"op":"add","path":"/o/new","value":%d},{"op":"copy","from":"/o","path":"/copy"}`, i)
	}
	write("keys.jsonl", `{"chat_metadata":{"o":{`+keys.String()[1:]+`}},"user_name":"unused","character_name":"unused"}`+"\n"+`{"name":"A","is_user":true,"mes":"x"}`)
	write("copies.json", "["+copies.String()[1:]+"]")
	write("text.jsonl", `{"chat_metadata":{},"user_name":"unused","character_name":"unused"}`+"\n"+`{"name":"A","is_user":true,"mes":"`+strings.Repeat("ab", 20<<20)+`"}`)
	for _, test := range []struct {
		name string
		args []string
	}{
		{"jq", []string{"inspect", "text.jsonl", "--jq", "def f: f; f"}},
		{"patch", []string{"meta", "set", "keys.jsonl", "--patch", "copies.json"}},
		{"text", []string{"replace", "-E", "(a|b)(a|b)(a|b)*c|(a|ab)(b|c)?$1", "x", "text.jsonl", "0"}},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			cmd := exec.Command("stchat", test.args...)
			cmd.Dir = dir
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(700 * time.Millisecond)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			begun := time.Now()
			exit, ok := errors.AsType[*exec.ExitError](cmd.Wait())
			timer.Stop()
			if !ok || exit.ExitCode() != 128+int(sig) {
				t.Errorf("%s: %v after %v", test.name, exit, time.Since(begun))
			}
			t.Logf("%s ends after %v", test.name, time.Since(begun))
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 4 { // a folder .stchat may be there
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestInterruptedStdin: whoever feeds the program may take any time; an interruption
// does not wait for him, and leaves nothing.
func TestInterruptedStdin(t *testing.T) {
	const header = `{"chat_metadata":{},"user_name":"unused","character_name":"unused"}`
	for _, test := range []struct {
		name string
		args []string
	}{
		{"chat", []string{"checkpoint", "-", "-o", "new.jsonl"}},
		{"metadata", []string{"checkpoint", "old.jsonl", "--merge", "-"}},
		{"compared", []string{"diff-meta", "-", "old.jsonl"}},
	} {
		for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			t.Run(test.name+" "+sig.String(), func(t *testing.T) {
				dir := t.TempDir()
				old := filepath.Join(dir, "old.jsonl")
				if err := os.WriteFile(old, []byte(header+"\n"+`{"mes":"0"}`), 0o666); err != nil {
					t.Fatal(err)
				}
				code, stderr := interrupted(t, dir, test.args, sig)
				want := 128 + int(sig.(syscall.Signal))
				if code != want || stderr != "stchat: interrupted\n" {
					t.Errorf("exit %d, %q; want %d and one line", code, stderr, want)
				}
				entries, err := os.ReadDir(dir)
				if err != nil || len(entries) != 1 {
					t.Errorf("left behind: %v, %v", entries, err)
				}
			})
		}
	}
}
