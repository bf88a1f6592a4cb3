package luker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// errTwice means that a floor log has two lists of commits.
var errTwice = errors.New("it has two lists of commits")

// eachElement reads an object of which one member is a list that may not fit into memory.
// It calls begin with what stands before the list's first element and do with each element,
// checked; tail is what follows the last one. Other members are held in memory: they are small
// in the files that this is for. If the value is not an object, or the member not a list, begin
// and do are not called, and tail is nil.
func eachElement(r io.Reader, key string, begin, do func(raw []byte) error) (tail []byte, err error) {
	read := &recorder{r: r}
	d := json.NewDecoder(read)
	var raw json.RawMessage
	found := false
	err = func() error {
		t, err := d.Token()
		if err != nil || t != json.Delim('{') {
			return errors.Join(err, skip(d, t))
		}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if name != key {
				if err := d.Decode(&raw); err != nil {
					return err
				}
				continue
			}
			if found {
				return errTwice
			}
			t, err := d.Token()
			if err != nil || t != json.Delim('[') {
				if err := errors.Join(err, skip(d, t)); err != nil {
					return err
				}
				continue
			}
			found = true
			if err := begin(read.cut(d.InputOffset())); err != nil {
				return callerError{err}
			}
			for d.More() {
				if err := d.Decode(&raw); err != nil {
					return err
				}
				read.cut(d.InputOffset())
				if err := do(raw); err != nil {
					return callerError{err}
				}
			}
			if _, err := d.Token(); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	}()
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = errors.New("something follows")
		}
	}
	if own, ok := errors.AsType[callerError](err); ok {
		return nil, own.error
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil && read.err == nil && !errors.Is(err, errTwice) && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("it is not JSON from byte %d on: %w", d.InputOffset(), err)
	case err != nil || !found:
		return nil, err
	}
	return bytes.TrimLeft(read.kept, " \t\r\n"), nil
}

// callerError is an error of begin or do.
type callerError struct{ error }

// skip reads the rest of the value that t begins.
func skip(d *json.Decoder, t json.Token) error {
	for depth := 0; ; {
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if t, err = d.Token(); err != nil {
			return err
		}
	}
}

// recorder keeps what is read, until it is cut off.
type recorder struct {
	r    io.Reader
	at   int64 // offset of kept
	kept []byte
	err  error
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.kept = append(r.kept, p[:n]...)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// cut forgets what was read before an offset, and returns it.
func (r *recorder) cut(to int64) (before []byte) {
	n := to - r.at
	before, r.kept, r.at = r.kept[:n:n], r.kept[n:], to
	return before
}
