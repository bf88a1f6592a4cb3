package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/term"
)

// env is the outside world as the commands see it, built once in main.
type env struct {
	In       io.Reader
	Out, Err io.Writer
	OutTTY   bool // Out is a terminal
	ErrTTY   bool
	Width    int // cells of the terminal; 0: no terminal
	Getenv   func(string) string
	Now      func() time.Time
}

func newEnv() env {
	e := env{
		In: os.Stdin, Out: stdout{os.Stdout}, Err: os.Stderr,
		OutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Getenv: os.Getenv,
		Now:    time.Now,
	}
	for _, f := range []*os.File{os.Stderr, os.Stdout} { // into a pager, only stderr is a terminal
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			e.Width = width
		}
	}
	return e
}

// stdout is standard output, with errors that call it that: those of Go name /dev/stdout.
type stdout struct{ file *os.File }

// Write implements io.Writer.
func (s stdout) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("standard output: %w", pe.Err)
	}
	return n, err
}
