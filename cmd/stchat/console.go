package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"stchat/internal/visible"
)

// The colours in use. paint leaves them out where there is no colour.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
	bold   = "1"
	dim    = "2"
)

// console is where a command's results and remarks go.
type console struct {
	*app
	mu       sync.Mutex
	outColor bool
	errColor bool
	redraw   func() // clears the progress line, where there is one
}

func (a *app) console() *console {
	when, _ := colorWhen(a.color)
	return &console{
		app:      a,
		outColor: when(a.env, a.OutTTY),
		errColor: when(a.env, a.ErrTTY),
	}
}

// colorWhen gives the rule of --color: the flag decides, then NO_COLOR and
// TERM=dumb turn colour off, FORCE_COLOR and CLICOLOR_FORCE on, then it is on
// for a terminal. NO_COLOR wins over FORCE_COLOR, and over --color always.
func colorWhen(flag string) (rule func(e *env, tty bool) bool, ok bool) {
	noColor := func(e *env) bool { return e.Getenv("NO_COLOR") != "" }
	switch flag {
	case "never":
		return func(*env, bool) bool { return false }, true
	case "always":
		return func(e *env, _ bool) bool { return !noColor(e) }, true
	case "auto":
		return func(e *env, tty bool) bool {
			switch {
			case noColor(e), e.Getenv("TERM") == "dumb":
				return false
			case e.Getenv("FORCE_COLOR") != "", e.Getenv("CLICOLOR_FORCE") != "":
				return true
			}
			return tty
		}, true
	}
	return nil, false
}

// paint colours s, which is shown text.
func paint(on bool, code, s string) string {
	if !on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// note says something on stderr that is neither result nor error.
func (c *console) note(format string, args ...any) {
	if !c.quiet {
		c.errLine("", "", fmt.Sprintf(format, args...))
	}
}

// warn says what the user should know before relying on the result.
func (c *console) warn(format string, args ...any) {
	if !c.quiet {
		c.errLine(yellow, "warning: ", fmt.Sprintf(format, args...))
	}
}

// fail says an error; the command goes on. That a context was cancelled is how
// the program sees an interruption.
func (c *console) fail(err error) {
	text := err.Error()
	if errors.Is(err, context.Canceled) {
		text = strings.ReplaceAll(text, context.Canceled.Error(), "interrupted")
	}
	c.errLine(red, "", text)
}

// unprinted is the error of results that could not be printed, with what became
// of them all the same. A reader that had enough is none.
func unprinted(err error, all string) error {
	if err == nil || isClosedPipe(err) {
		return nil
	}
	return fmt.Errorf("%w; %s", err, all)
}

func (c *console) errLine(color, kind, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.redraw != nil {
		c.redraw()
	}
	fmt.Fprintf(c.Err, "stchat: %s%s\n", paint(c.errColor, color, kind), visible.Text(text))
}

// path gives a path as it is printed to stdout: for a person quoted where it
// needs it, for a pipe as it is.
func (c *console) path(p string) string {
	if c.OutTTY {
		return visible.Quote(p)
	}
	return p
}

// closeTabs says what every command says once that has edited a chat or a group
// in place: SillyTavern keeps both in memory and writes them back whole. A slug
// stands in a chat, so an edited group alone has none to give anew.
func (c *console) closeTabs(bumped, chat bool) {
	text := "close or reload that chat or group in SillyTavern first: a tab that has it open overwrites the edit at its next save"
	switch {
	case bumped:
		text = "a chat edited in place has a new integrity slug: SillyTavern stops a tab that has it open at its next save; reload it there"
	case chat:
		text += " (--bump-integrity stops it instead)"
	}
	c.note("%s", text)
}

// writeJSON writes a document on one line, without HTML escaping, and with
// nothing in it that a terminal would obey.
func writeJSON(w io.Writer, doc any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := w.Write(visible.JSON(b.Bytes()))
	return err
}
