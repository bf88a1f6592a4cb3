//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

func scriptFifo(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("there are no named pipes on this system; guard it with [unix]")
}

func scriptUnprivileged(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("there are no permissions to test on this system; guard it with [unix]")
}
