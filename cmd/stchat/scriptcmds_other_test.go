//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

// fifo PATH makes a pipe with a name.
func scriptFifo(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("fifo: there are none on this system; guard it with [unix]")
}
