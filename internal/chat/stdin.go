package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"stchat/internal/safefile"
)

// openStdin copies standard input to a temporary file. It returns as soon as ctx
// ends, since input may take any time to arrive.
func openStdin(ctx context.Context, in io.Reader) (f *os.File, cleanup func(), err error) {
	type spooled struct {
		f       *os.File
		cleanup func()
		err     error
	}
	done := make(chan spooled, 1)
	go func() {
		f, cleanup, err := safefile.Spool(in, "")
		done <- spooled{f, cleanup, err}
	}()
	select {
	case s := <-done:
		if s.err != nil {
			return nil, nil, stdinError(s.err)
		}
		return s.f, s.cleanup, nil
	case <-ctx.Done():
		go func() {
			if s := <-done; s.err == nil {
				s.cleanup()
			}
		}()
		return nil, nil, fmt.Errorf("standard input: %w", ctx.Err())
	}
}

// stdinError returns an error for standard input that could not be read, or not
// be copied to a file.
func stdinError(err error) error {
	pe, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok:
		return fmt.Errorf("standard input: %w", err)
	case pe.Op == "read":
		return fmt.Errorf("standard input: %w", pe.Err)
	default:
		return fmt.Errorf("standard input: it cannot be kept meanwhile: %s: %w", pe.Path, pe.Err)
	}
}
