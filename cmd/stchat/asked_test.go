package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// interrupter is a terminal on which somebody presses Ctrl-C when a question stands there.
type interrupter struct {
	bytes.Buffer
	interrupt func()
}

// Write implements [io.Writer].
func (i *interrupter) Write(p []byte) (int, error) {
	n, err := i.Buffer.Write(p)
	if strings.HasSuffix(i.String(), "[y/N] ") {
		i.interrupt()
	}
	return n, err
}

// TestInterruptedQuestion: a signal ends a command that waits for an answer, and nothing is done.
func TestInterruptedQuestion(t *testing.T) {
	demo := filepath.Join("..", "..", "testdata", "demo")
	chats := func(user string) []string {
		found, err := filepath.Glob(filepath.Join(user, "chats", "*", "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		user := filepath.Join(t.TempDir(), "user")
		if err := os.CopyFS(user, os.DirFS(demo)); err != nil {
			t.Fatal(err)
		}
		before := chats(user)
		answer, typing, err := os.Pipe() // nobody types
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		screen := &interrupter{interrupt: func() { stop(interruption{signal}) }}
		e := env{
			In: answer, InTTY: true, Out: &bytes.Buffer{}, OutTTY: true, Err: screen, ErrTTY: true, Width: 80,
			Getenv: func(string) string { return "" }, Now: time.Now,
		}
		code := run(ctx, e, append([]string{"rm", "--color", "never"}, before...))
		if code != exitSignal+int(signal) || !strings.HasSuffix(screen.String(), "[y/N] \nstchat: interrupted\n") {
			t.Errorf("%v: exit %d, %q", signal, code, screen)
		}
		if diff := cmp.Diff(before, chats(user)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", signal, diff)
		}
		if err := typing.Close(); err != nil { // ends the reading that was left to itself
			t.Fatal(err)
		}
	}
}
