package changeset

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// Edit changes an existing file. All edits of a path become one draft, in the order of
// the units.
type Edit interface {
	// Join returns the edit that makes this one and then next, which must be of the same
	// type.
	Join(next Edit) (Edit, error)
	// Render writes the edited form of old, which has size bytes, to dst. It may be
	// called again if somebody else saved the file meanwhile.
	Render(ctx context.Context, dst io.Writer, old io.ReaderAt, size int64) error
}

// ErrUnchanged is what Render returns when there is nothing to edit: the file stays as it
// is, and the step is dropped.
var ErrUnchanged = errors.New("nothing to change")

// Bytes edits a small file by its meaning. It works on any state of the file, so the
// stamp in [Set.Edit] may be zero. It returns equal bytes when there is nothing to do.
type Bytes func(old []byte) ([]byte, error)

// Join implements Edit.
func (b Bytes) Join(next Edit) (Edit, error) {
	n, ok := next.(Bytes)
	if !ok {
		return nil, errMixed
	}
	return Bytes(func(old []byte) ([]byte, error) {
		data, err := b(old)
		if err != nil {
			return nil, err
		}
		return n(data)
	}), nil
}

var errMixed = errors.New("two edits of one file do not fit together")

// Render implements Edit.
func (b Bytes) Render(_ context.Context, dst io.Writer, old io.ReaderAt, size int64) error {
	data := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(old, 0, size), data); err != nil {
		return err
	}
	edited, err := b(bytes.Clone(data))
	if err != nil {
		return err
	}
	if bytes.Equal(edited, data) {
		return ErrUnchanged
	}
	_, err = dst.Write(edited)
	return err
}

// Joined returns an Edit for a type that has its own Join and Render, such as chat.Lines.
func Joined[E joiner[E]](e E) Edit { return joined[E]{e} }

type joiner[E any] interface {
	Join(next E) E
	Render(ctx context.Context, dst io.Writer, old io.ReaderAt, size int64) error
}

type joined[E joiner[E]] struct{ edit E }

func (j joined[E]) Join(next Edit) (Edit, error) {
	n, ok := next.(joined[E])
	if !ok {
		return nil, errMixed
	}
	return joined[E]{j.edit.Join(n.edit)}, nil
}

func (j joined[E]) Render(ctx context.Context, dst io.Writer, old io.ReaderAt, size int64) error {
	return j.edit.Render(ctx, dst, old, size)
}
