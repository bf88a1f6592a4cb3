package ops

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"stchat/internal/changeset"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// ErrChatName means that a file that is not a chat would have a chat's name.
var ErrChatName = errors.New("a chat's name, and this is none; choose another name")

// ErrKeptFolder means that a file would go into a folder that SillyTavern keeps for its own
// files.
var ErrKeptFolder = errors.New("SillyTavern keeps its own files in that folder; choose another one")

// WriteOutput writes a file that does not belong to a user folder, whole or not at all. It
// replaces an existing file only with force; otherwise the error is a *safefile.ExistsError. A
// file that is replaced is not kept for undo.
func WriteOutput(ctx context.Context, path string, force bool, opt changeset.Options, write func(io.Writer) error) changeset.Outcome {
	real := userdir.RealPath(path)
	switch {
	case userdir.HasExtension(path), userdir.HasExtension(real):
		return changeset.Outcome{Err: fmt.Errorf("%s: %w", path, ErrChatName)}
	case userdir.InPart(path), userdir.InPart(real):
		return changeset.Outcome{Err: fmt.Errorf("%s: %w", path, ErrKeptFolder)}
	}
	unit := changeset.Unit{Root: changeset.RootOf(path), Unrecorded: true, Draft: func(_ context.Context, s *changeset.Set) error {
		d, err := draftOutput(s, path, force)
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(d, 1<<16)
		if err := write(w); err != nil {
			return err
		}
		return w.Flush()
	}}
	o := changeset.Run(ctx, []changeset.Unit{unit}, opt)[0]
	o.Err = PathError(o.Err)
	return o
}

func draftOutput(s *changeset.Set, path string, force bool) (*changeset.Draft, error) {
	const about = "the output"
	if force {
		was, err := safefile.StampPath(path)
		if err == nil {
			return s.Replace(path, was, about)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return s.Create(path, about)
}
