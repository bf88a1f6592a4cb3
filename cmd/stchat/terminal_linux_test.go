package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// scriptTerminal runs a program that writes to a terminal of its own, and puts into stdout what the
// terminal was sent. testscript's ttyin and ttyout may close the terminal while the end of the
// output is still unread.
func scriptTerminal(ts *testscript.TestScript, _ bool, args []string) {
	screen, terminal, err := openTerminal()
	ts.Check(err)

	var sent bytes.Buffer
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(&sent, screen)
		read <- err
	}()

	redirected := []string{"-c", `terminal=$1; shift; exec "$@" >"$terminal" 2>"$terminal"`, "sh", terminal.Name()}
	runErr := ts.Exec("sh", append(redirected, args...)...)

	ts.Check(terminal.Close()) // the last writer is gone: now the reader comes to the end
	if err := <-read; err != nil && !isHungUp(err) {
		ts.Fatalf("reading the terminal: %v", err)
	}
	ts.Check(screen.Close())

	_, err = ts.Stdout().Write(sent.Bytes())
	ts.Check(err)
	ts.Check(runErr)
}

// onTerminal runs a program on a terminal of 80 columns, and returns what it shows in the end, without what was
// written over.
func onTerminal(cmd *exec.Cmd) (shown []byte, err error) {
	screen, terminal, err := openTerminal()
	if err != nil {
		return nil, err
	}
	err = unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 80})

	var sent bytes.Buffer
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(&sent, screen)
		read <- err
	}()
	if err == nil {
		cmd.Stdout, cmd.Stderr = terminal, terminal
		err = cmd.Run()
	}

	closed := terminal.Close() // the last writer is gone: now the reader comes to the end
	if readErr := <-read; !isHungUp(readErr) {
		closed = errors.Join(closed, readErr)
	}
	shown = overwritten.ReplaceAll(bytes.ReplaceAll(sent.Bytes(), []byte("\r\n"), []byte("\n")), nil)
	return shown, cmp.Or(errors.Join(closed, screen.Close()), err)
}

// overwritten is what progress leaves of itself: a line that another replaces, and the commands that erase it.
var overwritten = regexp.MustCompile(`[^\n]*\r|\x1b\[[0-9;?]*[A-Za-z]`)

// isHungUp tells whether a read failed because nobody has the terminal open any more, see pty(7).
func isHungUp(err error) bool {
	return errors.Is(err, syscall.EIO)
}

// openTerminal makes a terminal, and returns the side that sees what is written to it, and the
// side that programs write to.
func openTerminal() (screen, terminal *os.File, err error) {
	screen, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}

	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0) // unlocks it
	}
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, screen.Close())
	}
	return screen, terminal, nil
}
