package main

import (
	"bytes"
	"runtime"
	"testing"
)

// TestGuesses: no guess is worse than the list says.
func TestGuesses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("guesses are typed into a POSIX shell")
	}
	var out bytes.Buffer
	if err := run(&out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}
