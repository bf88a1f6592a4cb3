package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/itchyny/gojq"

	"stchat/internal/visible"
)

// compileJQ compiles a program that sees nothing but the documents: no environment, no
// files, no modules.
func compileJQ(expr string) (*gojq.Code, error) {
	query, err := gojq.Parse(expr)
	if err != nil {
		return nil, err
	}
	return gojq.Compile(query, gojq.WithEnvironLoader(func() []string { return nil }))
}

// jqWriter takes JSON documents and writes what a program makes of each: strings as they
// are, other values as a line of JSON.
type jqWriter struct {
	ctx      context.Context // ends a program that loops
	out      io.Writer
	code     *gojq.Code
	terminal bool
	rest     []byte // the start of a document that is not complete yet
	err      error
}

// Write implements io.Writer.
func (w *jqWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.rest = append(w.rest, p...)
	for w.err == nil {
		end := bytes.IndexByte(w.rest, '\n')
		for end >= 0 && !json.Valid(w.rest[:end]) { // a document on several lines
			next := bytes.IndexByte(w.rest[end+1:], '\n')
			if next < 0 {
				return len(p), nil
			}
			end += 1 + next
		}
		if end < 0 {
			return len(p), nil
		}
		w.err = w.document(w.rest[:end])
		w.rest = w.rest[end+1:]
	}
	return 0, w.err
}

func (w *jqWriter) document(doc []byte) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return fmt.Errorf("--jq: %w", err)
	}
	results := w.code.RunWithContext(w.ctx, value)
	for {
		result, ok := results.Next()
		if !ok {
			return nil
		}
		if err, isError := result.(error); isError {
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
				return nil
			}
			return fmt.Errorf("--jq: %w", err)
		}
		if err := w.print(result); err != nil {
			return err
		}
	}
}

func (w *jqWriter) print(value any) error {
	text, ok := value.(string)
	if ok && w.terminal {
		text = visible.Lines(text)
	}
	if !ok {
		raw, err := gojq.Marshal(value)
		if err != nil {
			return fmt.Errorf("--jq: %w", err)
		}
		text = string(visible.JSON(raw))
	}
	_, err := io.WriteString(w.out, text+"\n")
	return err
}
