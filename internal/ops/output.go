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
var ErrChatName = errors.New("a chat's name, but this is not a chat; choose another name")

// ErrReserved means that a file would lie where SillyTavern or stchat keeps something else.
var ErrReserved = error(&Kind{Code: "refused", Text: "SillyTavern keeps its own files there; choose another place"})

// ErrNotOwn means that a file in a user folder is not one that the command wrote before.
var ErrNotOwn = error(&Kind{Code: "refused", Text: "in a user folder only what this command wrote is replaced; choose another name"})

// JudgeOutput refuses the path of an output at which SillyTavern or stchat reads something
// else; isChat says that the output is a chat. The error wraps [ErrReserved].
func JudgeOutput(path string, isChat bool) error {
	for _, path := range []string{path, userdir.RealPath(path)} {
		if role := userdir.RoleOf(path); role == userdir.Reserved || role == userdir.ChatPlace && !isChat {
			return fmt.Errorf("%s: %w", path, ErrReserved)
		}
	}
	return nil
}

// WriteOutput writes a file that is not a chat, whole or not at all. It replaces an existing
// file only with force; otherwise the error is a *safefile.ExistsError. In a user folder it
// replaces only what own recognises by its beginning, and keeps that for undo.
func WriteOutput(ctx context.Context, path string, force bool, own func(head []byte) bool, opt changeset.Options, write func(io.Writer) error) changeset.Outcome {
	if userdir.HasExtension(path) || userdir.HasExtension(userdir.RealPath(path)) {
		return changeset.Outcome{Err: fmt.Errorf("%s: %w", path, ErrChatName)}
	}
	if err := JudgeOutput(path, false); err != nil {
		return changeset.Outcome{Err: err}
	}
	inside := userdir.RoleOf(path) != userdir.Outside
	unit := changeset.Unit{Root: changeset.RootOf(path), Unrecorded: !inside, Draft: func(_ context.Context, s *changeset.Set) error {
		if inside && force {
			if err := judgeReplaced(path, own); err != nil {
				return err
			}
		}
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

// judgeReplaced refuses an existing file that own does not recognise.
func judgeReplaced(path string, own func(head []byte) bool) error {
	f, err := safefile.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 512))
	if err == nil && !own(head) {
		err = fmt.Errorf("%s: %w", path, ErrNotOwn)
	}
	return err
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
