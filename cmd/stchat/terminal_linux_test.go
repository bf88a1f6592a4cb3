package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
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
