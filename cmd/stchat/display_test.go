package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"stchat/internal/text/visible"
)

// display is a terminal that shows both stdout and stderr.
type display struct {
	width  int    // in cells; 0: a pipe, in which nothing has a width
	locale string // "": it says nothing of UTF-8
	now    time.Time
}

// ownColor is what the program itself paints with.
var ownColor = regexp.MustCompile("\x1b\\[[0-9;]{1,9}m")

// meters finds those that are shown where the machine is slow.
var meters = regexp.MustCompile(`[^\n]*\r\x1b\[K`)

// show runs the program, and returns what is shown of it.
func (d display) show(args ...string) (text string, code int) {
	var shown bytes.Buffer
	isTerminal := d.width > 0
	e := env{
		In: strings.NewReader(""), Out: &shown, Err: &shown, OutTTY: isTerminal, ErrTTY: isTerminal, Width: d.width,
		Getenv: func(name string) string { return map[string]string{"LC_ALL": d.locale}[name] },
		Now:    time.Now,
	}
	if !d.now.IsZero() {
		e.Now = func() time.Time { return d.now }
	}
	code = run(context.Background(), e, args)
	return meters.ReplaceAllString(shown.String(), ""), code
}

// check reports lines that the display cannot show as they are: too wide for it, but for those that are
// to be copied, with blanks at their end, with what drives it, or with signs that it does not have.
func (d display) check(t *testing.T, args []string, text string, isCopied func(line string) bool) {
	t.Helper()
	width := d.width
	if width == 0 {
		width = 80
	}
	for line := range strings.Lines(ownColor.ReplaceAllString(text, "")) {
		line = strings.TrimSuffix(line, "\n")
		if visible.Width(line) > width && !isCopied(line) {
			t.Errorf("%q at %d, %s: %d cells: %q", args, d.width, d.locale, visible.Width(line), line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("%q at %d: a space ends %q", args, d.width, line)
		}
		if visible.Text(line) != line {
			t.Errorf("%q drives the terminal: %q", args, line)
		}
		if d.locale == "C" && visible.ASCII(line) != line {
			t.Errorf("%q: a terminal without UTF-8 cannot show %q", args, line)
		}
	}
}
