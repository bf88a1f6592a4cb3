package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminalPair opens a pseudo-terminal: what a person types, and what the program has.
func terminalPair(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { person.Close() })
	n := 0
	raw, err := person.SyscallConn()
	if err == nil {
		controlled := raw.Control(func(fd uintptr) {
			if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
				n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
			}
		})
		err = errors.Join(err, controlled)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// TestInterruptedPager: while a pager has the terminal, Ctrl-C is the pager's, and the command goes on.
func TestInterruptedPager(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	message := `{"name":"A","is_user":true,"mes":"` + strings.Repeat("word ", 200) + `"}` + "\n"
	chat := `{"chat_metadata":{},"user_name":"unused","character_name":"unused"}` + "\n" + strings.Repeat(message, 5000) // more than pipes and buffers hold
	if err := os.WriteFile(path, []byte(chat), 0o666); err != nil {
		t.Fatal(err)
	}
	person, program := terminalPair(t)
	cmd := exec.Command("stchat", "show", path)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, program, program, program
	cmd.Env = append(os.Environ(), "TERM=xterm", "STCHAT_PAGER=trap 'touch pressed' INT; head -c 9 > seen; touch reading; while ! test -e pressed; do sleep 0.02; done; cat > rest")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "reading")); err == nil {
			break
		}
	}
	if _, err := person.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if rest, err := os.ReadFile(filepath.Join(dir, "rest")); strings.Count(string(rest), "word") != 1_000_000 {
		t.Errorf("the pager got %d words: %v", strings.Count(string(rest), "word"), err)
	}
}
