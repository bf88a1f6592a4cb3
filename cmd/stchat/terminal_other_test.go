//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// scriptTerminal says that there are none: its scripts are for Linux.
func scriptTerminal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("no terminals to test with")
}
