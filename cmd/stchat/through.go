package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/text/visible"
)

// pagerOf returns the command that pages, "" for none: STCHAT_PAGER, PAGER, or less if it is there.
func pagerOf(lookup func(string) (string, bool)) string {
	for _, name := range []string{"STCHAT_PAGER", "PAGER"} {
		if command, ok := lookup(name); ok {
			if command = strings.TrimSpace(command); command == "cat" {
				command = ""
			}
			return command
		}
	}

	if runtime.GOOS == "windows" {
		return ""
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less"
}

// everything says that a command always pages; else the flag is named with which it does.
const everything = "*"

// throughPager calls run, with what it prints to a terminal going through the pager. It starts with
// the first byte; meanwhile stderr is held back, and Ctrl-C is the pager's.
func (c *console) throughPager(fs *pflag.FlagSet, with string, run func() error) error {
	if c.Pager == "" || !c.OutTTY || c.Getenv("TERM") == "dumb" || c.json || c.jqText != "" || c.noPager || with != everything && !isGiven(fs, with) {
		return run()
	}
	p := &pager{console: c, out: c.Out, err: c.Err}
	c.Out, c.Err = p, &heldBack{pager: p}
	err := run()
	p.release()
	c.Out, c.Err = p.out, p.err
	return err
}

// pager is a running pager, or one that has not got a byte yet.
type pager struct {
	console  *console
	out, err io.Writer // the terminal's
	cmd      *exec.Cmd
	in       io.WriteCloser
	first    []byte // what was written first, should the pager not be one
	plain    bool   // there is no pager: everything goes to the terminal
	over     bool   // it was left: nobody reads the rest

	mu   sync.Mutex
	held bytes.Buffer // of stderr
	more int          // bytes that were not held
}

// mostHeld is how much of stderr is held back, in whole notes. Twice as much of stdout is kept, more than a pipe
// holds, until it is certain that the pager is one.
const mostHeld = 64 << 10

// Write implements io.Writer. Who leaves a pager early has seen enough, which is no error.
func (p *pager) Write(b []byte) (int, error) {
	switch {
	case p.over:
		return len(b), nil
	case p.cmd == nil && !p.plain:
		p.start()
	}

	if p.plain {
		return p.out.Write(b)
	}
	if room := 2*mostHeld - len(p.first); room > 0 {
		p.first = append(p.first, b[:min(room, len(b))]...)
	}
	if _, err := p.in.Write(b); err != nil {
		p.left()
	}
	return len(b), nil
}

func (p *pager) start() {
	args := []string{"sh", "-c", p.console.Pager}
	if runtime.GOOS == "windows" {
		args = strings.Fields(p.console.Pager)
	}
	cmd := exec.Command(args[0], args[1:]...) //nolint:gosec // it is the user's own setting
	if to := p.console.Files; to[0] != nil {
		cmd.Stdout, cmd.Stderr = to[0], to[1]
	}
	cmd.Env = os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.plain = true
		fmt.Fprintf(p.err, "stchat: the pager cannot be started: %v\n", err)
		return
	}

	p.cmd, p.in = cmd, in
	p.console.Paging.Store(true)
}

// left finds out why the pager reads no more: it was left, or it never was one.
func (p *pager) left() {
	if !p.wait() {
		p.over = true
		return
	}
	p.plain = true
	_, _ = p.out.Write(p.first)
}

// wait waits for the pager. missing means that there is no such command.
func (p *pager) wait() (missing bool) {
	_ = p.in.Close()
	err := p.cmd.Wait()
	p.console.Paging.Store(false)
	p.cmd = nil
	exit, ok := err.(*exec.ExitError) //nolint:errorlint // Wait returns it as it is
	if ok && (exit.ExitCode() == 126 || exit.ExitCode() == 127) {
		fmt.Fprintf(p.err, "stchat: cannot run the pager %q\n", p.console.Pager)
		return true
	}
	return false
}

// release waits until the pager is left, and prints what was held back. What comes then goes to
// the terminal itself, as a question must.
func (p *pager) release() {
	if p.cmd != nil && p.wait() {
		_, _ = p.out.Write(p.first)
	}
	p.plain, p.over = true, false
	_, _ = p.held.WriteTo(p.err)
	if p.more > 0 {
		fmt.Fprintf(p.err, "stchat: %d bytes of notes more\n", p.more)
		p.more = 0
	}
}

// heldBack is stderr: held back while the pager has the terminal.
type heldBack struct{ pager *pager }

// Write implements io.Writer.
func (h *heldBack) Write(b []byte) (int, error) {
	p := h.pager
	if !p.console.Paging.Load() {
		return p.err.Write(b)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.more > 0 || p.held.Len()+len(b) > mostHeld { // no note is cut
		p.more += len(b)
		return len(b), nil
	}
	return p.held.Write(b)
}

// readJQ reads --jq, if it is given; it means --json. The program sees nothing
// but the documents: no environment, no files, no modules.
func (c *console) readJQ(cmd *cobra.Command) error {
	if c.jqText == "" {
		return nil
	}
	query, err := gojq.Parse(c.jqText)
	if err == nil {
		var code *gojq.Code
		code, err = gojq.Compile(query, gojq.WithEnvironLoader(func() []string { return nil }))
		c.jq = func(doc any) gojq.Iter { return code.RunWithContext(cmd.Context(), doc) }
	}
	if err != nil {
		return usagef("--jq: %v", err)
	}
	c.json = true
	return nil
}

// printThroughJQ prints what the program of --jq makes of a document: strings as they are, other
// values as a line of JSON.
func (c *console) printThroughJQ(doc any) error {
	var b bytes.Buffer
	if err := c.docs.Write(&b, doc, ""); err != nil {
		return err
	}
	dec := json.NewDecoder(&b)
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return err
	}
	results := c.jq(value)
	for result, ok := results.Next(); ok; result, ok = results.Next() {
		if err, failed := result.(error); failed {
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
				return nil
			}
			return fmt.Errorf("--jq: %w", err)
		}

		text, isText := result.(string)
		if isText && c.OutTTY {
			text = visible.Lines(text)
		} else if !isText {
			raw, err := gojq.Marshal(result)
			if err != nil {
				return fmt.Errorf("--jq: %w", err)
			}
			text = string(visible.JSON(raw))
		}

		fmt.Fprintln(c.w, text)
	}
	return nil
}
