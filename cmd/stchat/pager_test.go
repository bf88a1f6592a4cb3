package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// paged runs the program with a pager on a terminal.
func paged(t *testing.T, pager string, args ...string) (out, errs string, code int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), env{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr, OutTTY: true, Width: 80, Pager: pager, Paging: new(atomic.Bool),
		Getenv: func(string) string { return "" }, Now: time.Now,
	}, args)
	return stdout.String(), stderr.String(), code
}

func TestPager(t *testing.T) {
	demo := filepath.Join("..", "..", "testdata", "demo", "chats", "Maren Holm")
	a, b := filepath.Join(demo, "Maren Holm - 2026-03-01@18h42m07s311ms.jsonl"), filepath.Join(demo, "Before the storm.jsonl")
	seen := filepath.Join(t.TempDir(), "seen")
	into := "cat > '" + seen + "'"

	plain, _, code := paged(t, "", "diff", a, b)
	out, errs, got := paged(t, into, "diff", a, b)
	data, err := os.ReadFile(seen)
	if err != nil || out != "" || errs != "" || string(data) != plain || got != code || code != 1 {
		t.Errorf("paged: %v; printed %q and %q, exit %d, not %d", err, out, errs, got, code)
	}
	t.Setenv("LESS", "") // is restored
	if err := os.Unsetenv("LESS"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"FRX", "", "M"} {
		if want != "FRX" {
			t.Setenv("LESS", want)
		}
		paged(t, `printf %s "$LESS" > '`+seen+"'", "diff", a, b)
		if data, err := os.ReadFile(seen); string(data) != want {
			t.Errorf("LESS is %q, not %q: %v", data, want, err)
		}
	}
	for name, pager := range map[string]string{"left early": "true", "left after a line": "head -n 1 > /dev/null"} {
		if out, errs, got := paged(t, pager, "diff", a, b); out != "" || errs != "" || got != code {
			t.Errorf("%s: printed %q and %q, exit %d", name, out, errs, got)
		}
	}
	for _, pager := range []string{"no-such-pager-here 2> /dev/null", "exit 126"} {
		if out, errs, got := paged(t, pager, "diff", a, b); out != plain || !strings.Contains(errs, "cannot run the pager") || got != code {
			t.Errorf("%s: printed %d bytes of %d and %q, exit %d", pager, len(out), len(plain), errs, got)
		}
	}
	for _, args := range [][]string{{"diff", "--json", a, b}, {"diff", "--no-pager", a, b}, {"version"}} {
		_ = os.Remove(seen)
		if out, _, _ := paged(t, into, args...); out == "" {
			t.Errorf("%q went through the pager", args)
		}
	}
	if out, errs, got := paged(t, into, "inspect", filepath.Join(demo, "nobody.jsonl")); out != "" || !strings.Contains(errs, "nobody") || got != 2 {
		t.Errorf("an error: %q, %q, exit %d", out, errs, got)
	}
}

// A question is asked once the pager is left, and what follows goes to the terminal.
func TestPagerGivesWayToAQuestion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	seen := filepath.Join(t.TempDir(), "seen")
	var out, errs bytes.Buffer
	c := newConsole(env{
		In: strings.NewReader("y\n"), InTTY: true, Out: &out, OutTTY: true, Err: &errs, ErrTTY: true,
		Pager: "cat > '" + seen + "'", Paging: new(atomic.Bool), Getenv: func(string) string { return "" }, Now: time.Now,
	}, nil)
	err := c.throughPager(pflag.NewFlagSet("", pflag.ContinueOnError), everything, func() error {
		fmt.Fprintln(c.Out, "a list")
		c.note("a note")
		if got := errs.String(); got != "" {
			t.Errorf("not held back: %q", got)
		}
		if yes, asked, err := c.ask(t.Context(), "all of it?"); !yes || !asked || err != nil {
			t.Errorf("answered %v, %v, %v", yes, asked, err)
		}
		if got := errs.String(); got != "stchat: a note\nall of it? [y/N] " {
			t.Errorf("the question is %q", got)
		}
		fmt.Fprintln(c.Out, "done")
		return nil
	})
	data, _ := os.ReadFile(seen)
	if err != nil || string(data) != "a list\n" || out.String() != "done\n" {
		t.Errorf("%v: paged %q, then printed %q", err, data, out.String())
	}
}

// Of many notes the first are kept until the pager is left, each whole, and the rest is counted.
func TestPagerHoldsNotes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	var out, errs bytes.Buffer
	c := newConsole(env{Out: &out, OutTTY: true, Err: &errs, Pager: "cat > /dev/null", Paging: new(atomic.Bool), Getenv: func(string) string { return "" }}, nil)
	const notes = 1000
	note := strings.Repeat("x", 200)
	err := c.throughPager(pflag.NewFlagSet("", pflag.ContinueOnError), everything, func() error {
		fmt.Fprintln(c.Out, "a list")
		for range notes {
			c.note("%s", note)
		}
		return nil
	})
	whole := "stchat: " + note + "\n"
	kept := mostHeld / len(whole)
	want := strings.Repeat(whole, kept) + fmt.Sprintf("stchat: %d bytes of notes more\n", (notes-kept)*len(whole))
	if got := errs.String(); err != nil || got != want {
		t.Errorf("%v: %d bytes, the last %q", err, len(got), got[max(len(got)-300, 0):])
	}
}

func TestPagerOf(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"STCHAT_PAGER": "most", "PAGER": "less"}, "most"},
		{map[string]string{"STCHAT_PAGER": "", "PAGER": "less"}, ""},
		{map[string]string{"PAGER": "cat"}, ""},
		{map[string]string{"PAGER": "less -X"}, "less -X"},
	} {
		if got := pagerOf(func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok }); got != tt.want {
			t.Errorf("%v: %q", tt.env, got)
		}
	}
}
