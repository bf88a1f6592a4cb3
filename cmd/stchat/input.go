package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// readJSON reads one JSON value from a file or from stdin.
func readJSON(ctx context.Context, a *app, path string) ([]byte, error) {
	data, err := readInput(ctx, a, path)
	if err != nil {
		return nil, err
	}
	if d := jsonl.Check(data); d != nil {
		return nil, &jsonl.LineError{Path: label(path), Damage: *d}
	}
	return rawjson.Compact(data), nil
}

// readInput reads a regular file, or standard input for -. It does not open a FIFO,
// which would wait for its writer.
func readInput(ctx context.Context, a *app, path string) ([]byte, error) {
	if path == chat.Stdin {
		return readAll(ctx, func() ([]byte, error) { return io.ReadAll(a.In) })
	}
	data, _, err := safefile.Read(path)
	return data, notRegular(err)
}

// notRegular adds what helps to the error of an input that is no regular file.
func notRegular(err error) error {
	if errors.Is(err, safefile.ErrNotRegular) {
		err = fmt.Errorf("%w; to read a pipe, give - and feed it to standard input", err)
	}
	return ops.PathError(err)
}

// readAll calls read, which may block on a terminal or a pipe, but returns at once when
// ctx ends.
func readAll(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type content struct {
		data []byte
		err  error
	}
	done := make(chan content, 1)
	go func() {
		data, err := read()
		done <- content{data, err}
	}()
	select {
	case c := <-done:
		return c.data, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
