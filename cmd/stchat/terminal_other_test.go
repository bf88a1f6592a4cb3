//go:build !linux

package main

import (
	"errors"
	"os/exec"

	"github.com/rogpeppe/go-internal/testscript"
)

// onTerminal says that there are none.
func onTerminal(*exec.Cmd) ([]byte, error) { return nil, errors.ErrUnsupported }

// scriptTerminal says that there are none: its scripts are for Linux.
func scriptTerminal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("no terminals to test with")
}
