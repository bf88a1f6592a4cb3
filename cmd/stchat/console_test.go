package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stchat/internal/progress"
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
		c := (&app{env: e, globals: globals{color: "never"}}).console()
		drawn := func() string {
			synctest.Wait()
			c.mu.Lock()
			defer c.mu.Unlock()
			defer said.Reset()
			return said.String()
		}
		m, stop := c.meter("checkpoint", false)
		m.Expect(2, 4000)
		m.Read(1000)
		time.Sleep(progressAfter - time.Millisecond)
		if got := drawn(); got != "" {
			t.Errorf("drawn too early: %q", got)
		}
		time.Sleep(2 * time.Millisecond)
		if got, want := drawn(), "checkpoint 0/2 chats, 1.0 kB of 4.0 kB, 25 %"; got != want {
			t.Errorf("drawn: %q, want %q", got, want)
		}
		c.warn("look")
		if got, want := drawn(), "\r\x1b[Kstchat: warning: look\n"; got != want {
			t.Errorf("a warning meanwhile: %q, want %q", got, want)
		}
		time.Sleep(progressEvery + time.Millisecond)
		if got := drawn(); !strings.HasSuffix(got, "25 %") {
			t.Errorf("after the warning: %q", got)
		}
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
		c := (&app{env: e, globals: globals{color: "auto"}}).console()
		change(c)
		if c.meter("branch", false); c.redraw != nil {
			t.Errorf("%s: there is progress", name)
		}
	}
	e, _ := world(nil)
	c := (&app{env: e, globals: globals{color: "auto"}}).console()
	if c.meter("branch", true); c.redraw != nil {
		t.Error("--json: there is progress")
	}
}

func TestProgressLine(t *testing.T) {
	tests := []struct {
		state progress.State
		want  string
	}{
		{progress.State{Files: 1, Bytes: 2_500_000, Read: 1_250_000}, "branch 1.2 MB of 2.5 MB, 50 %"},
		{progress.State{Files: 3, Done: 2, Bytes: 10, Read: 20}, "branch 2/3 chats, 20 B of 10 B, 100 %"},
		{progress.State{Read: 999_999}, "branch 1.0 MB"},
	}
	for _, tt := range tests {
		if got := progressLine("branch", tt.state); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.state, got, tt.want)
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
		a := &app{env: e, globals: globals{color: tt.flag}}
		if got := a.coloured(tt.tty); got != tt.want {
			t.Errorf("--color %s, %v, terminal %v: %v", tt.flag, tt.vars, tt.tty, got)
		}
	}
}
