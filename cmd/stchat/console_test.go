package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stchat/internal/text/progress"
)

// world is an env whose stderr is a terminal, and what is printed there.
func world(vars map[string]string) (env, *bytes.Buffer) {
	var said bytes.Buffer
	return env{
		Out: &bytes.Buffer{}, Err: &said, ErrTTY: true,
		Getenv: func(key string) string { return vars[key] },
	}, &said
}

func TestProgressAppearsLateAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, said := world(nil)
		e.Out, e.OutTTY = said, true // one terminal
		c := newConsole(e, nil)
		c.color = "never"
		drawn := func() string {
			synctest.Wait()
			c.mu.Lock()
			defer c.mu.Unlock()
			defer said.Reset()
			return said.String()
		}
		var m *progress.Meter
		stop := c.meter("checkpoint", false, &m)
		m.Expect(2, 4000)
		m.Read(1000)
		time.Sleep(progressAfter - time.Millisecond)
		if got := drawn(); got != "" {
			t.Errorf("drawn too early: %q", got)
		}
		time.Sleep(2 * time.Millisecond)
		if got, want := drawn(), "checkpoint  25 %  1.0 of 4.0 kB  2.0 kB/s"; got != want {
			t.Errorf("drawn: %q, want %q", got, want)
		}
		c.warn("look")
		if got, want := drawn(), "\r\x1b[Kstchat: warning: look\n"; got != want {
			t.Errorf("a warning meanwhile: %q, want %q", got, want)
		}
		time.Sleep(progressEvery + time.Millisecond)
		if got := drawn(); !strings.HasSuffix(got, "25 %  1.0 of 4.0 kB  1.7 kB/s") {
			t.Errorf("after the warning: %q", got)
		}
		fmt.Fprintln(c.Out, "a row")
		if got, want := drawn(), "\r\x1b[Ka row\n"; got != want {
			t.Errorf("a row meanwhile: %q, want %q", got, want)
		}
		time.Sleep(progressEvery + time.Millisecond)
		drawn()
		stop()
		if got, want := drawn(), "\r\x1b[K"; got != want {
			t.Errorf("at the end: %q, want %q", got, want)
		}
		c.note("done")
		if got, want := drawn(), "stchat: done\n"; got != want {
			t.Errorf("after the end: %q, want %q", got, want)
		}
	})
}

func TestProgressIsForTerminals(t *testing.T) {
	for name, change := range map[string]func(*console){
		"a pipe":  func(c *console) { c.ErrTTY = false },
		"--quiet": func(c *console) { c.quiet = true },
	} {
		e, _ := world(nil)
		c := newConsole(e, nil)
		c.color = "auto"
		change(c)
		if c.meter("branch", false, new(*progress.Meter)); c.redraw != nil {
			t.Errorf("%s: there is progress", name)
		}
	}
	e, _ := world(nil)
	c := newConsole(e, nil)
	c.color = "auto"
	if c.meter("branch", true, new(*progress.Meter)); c.redraw != nil {
		t.Error("--json: there is progress")
	}
}

func TestProgressLine(t *testing.T) {
	began := time.Date(2026, 3, 1, 18, 42, 0, 0, time.UTC)
	p := &pace{began: began, reached: []reached{{began, 0}}}
	tests := []struct {
		after time.Duration
		state progress.State
		want  string
	}{
		{time.Second, progress.State{Files: 3, Bytes: 2_900_000_000, Read: 310_000_000}, "searching  10 %  310.0 MB of 2.9 GB  310.0 MB/s"},
		{4 * time.Second, progress.State{Files: 3, Bytes: 2_900_000_000, Read: 1_240_000_000}, "searching  42 %  1.2 of 2.9 GB  310.0 MB/s  5 s left"},
		{6 * time.Second, progress.State{Files: 3, Bytes: 2_900_000_000, Read: 1_240_000_000}, "searching  42 %  1.2 of 2.9 GB"},
		{7 * time.Second, progress.State{Bytes: 10, Read: 20}, "searching  100 %  10 of 10 B"},
		{8 * time.Second, progress.State{Files: 3, Done: 2}, "searching  2 of 3 chats"},
		{20 * time.Second, progress.State{Read: 999_999}, "searching  1.0 MB  83.3 kB/s"},
	}
	for _, tt := range tests {
		if got := p.line("searching", tt.state, began.Add(tt.after)); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.state, got, tt.want)
		}
	}
	for left, want := range map[time.Duration]string{0: "1 s", 59 * time.Second: "59 s", 100 * time.Second: "2 min", 65 * time.Minute: "1 h 5 min"} {
		if got := leftText(left); got != want {
			t.Errorf("%v: %q, want %q", left, got, want)
		}
	}
}

func TestColoured(t *testing.T) {
	tests := []struct {
		flag string
		vars map[string]string
		tty  bool
		want bool
	}{
		{"auto", nil, true, true},
		{"auto", nil, false, false},
		{"auto", map[string]string{"NO_COLOR": "1"}, true, false},
		{"auto", map[string]string{"NO_COLOR": ""}, true, true},
		{"auto", map[string]string{"TERM": "dumb"}, true, false},
		{"auto", map[string]string{"FORCE_COLOR": "1"}, false, true},
		{"auto", map[string]string{"CLICOLOR_FORCE": "1"}, false, true},
		{"auto", map[string]string{"NO_COLOR": "1", "FORCE_COLOR": "1"}, true, false},
		{"always", nil, false, true},
		{"always", map[string]string{"TERM": "dumb"}, false, true},
		{"always", map[string]string{"NO_COLOR": "1"}, true, false},
		{"never", map[string]string{"FORCE_COLOR": "1"}, true, false},
	}
	for _, tt := range tests {
		e, _ := world(tt.vars)
		c := newConsole(e, nil)
		c.color = tt.flag
		if got := c.coloured(tt.tty); got != tt.want {
			t.Errorf("--color %s, %v, terminal %v: %v", tt.flag, tt.vars, tt.tty, got)
		}
	}
}

// A sign of our own in a remark is shown as the terminal can.
func TestRemarkInASCII(t *testing.T) {
	for locale, want := range map[string]string{"C": "current 3 -> 0", "C.UTF-8": "current 3 → 0"} {
		e, _ := world(map[string]string{"LC_ALL": locale})
		e.Width = 80
		if got := e.remark("current 3 → 0"); got != want {
			t.Errorf("%s: %q", locale, got)
		}
	}
}

// Chats are several wherever another one stands between two mentions of one.
func TestCloseTabs(t *testing.T) {
	for _, test := range []struct {
		chats []string
		want  string
	}{
		{nil, "reload SillyTavern now, or its next save undoes this"},
		{[]string{"a.jsonl", "a.jsonl"}, "reload this chat in SillyTavern now, or its next save undoes this"},
		{[]string{"a.jsonl", "b.jsonl"}, "reload these chats in SillyTavern now, or their next save undoes this"},
		{[]string{"a.jsonl", "b.jsonl", "a.jsonl"}, "reload these chats in SillyTavern now, or their next save undoes this"},
	} {
		e, said := world(nil)
		newConsole(e, nil).closeTabs(false, test.chats...)
		if !strings.Contains(said.String(), test.want) {
			t.Errorf("%v: %q, want %q", test.chats, said, test.want)
		}
	}
}
