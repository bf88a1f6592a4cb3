package group

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"stchat/internal/changeset"
)

// Edit is a change of one group file for any number of chats, as a [changeset.Edit]. It is
// not a [changeset.Bytes], since thousands of chats may change one file in a call.
type Edit struct {
	Path   string
	List   []string // chats to list
	Forget []string // chats whose metadata leaves the file
	Open   string   // the chat that the group opens with; "" for the one it has

	Names   func(name string) (to string, keep bool) // what becomes of names, as in [File.WithNames]; nil: they stay
	Instead string                                   // what the group opens with, and lists, if Names does not keep the chat it has

	joined bool // Join made it, and may append to its lists
}

// Join implements [changeset.Edit].
func (e *Edit) Join(next changeset.Edit) (changeset.Edit, error) {
	n, ok := next.(*Edit)
	if !ok || e.Names != nil && n.Names != nil {
		return nil, fmt.Errorf("%s: two edits that do not go together", e.Path)
	}
	if !e.joined {
		e = &Edit{e.Path, slices.Clone(e.List), slices.Clone(e.Forget), e.Open, e.Names, e.Instead, true}
	}
	e.List, e.Forget = append(e.List, n.List...), append(e.Forget, n.Forget...)
	e.Open = cmp.Or(n.Open, e.Open)
	if n.Names != nil {
		e.Names, e.Instead = n.Names, n.Instead
	}
	return e, nil
}

// Render implements [changeset.Edit].
func (e *Edit) Render(_ context.Context, dst io.Writer, old io.ReaderAt, size int64) error {
	raw := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(old, 0, size), raw); err != nil {
		return err
	}
	_, data, err := e.Apply(raw)
	if err != nil {
		return err
	}
	if bytes.Equal(data, raw) {
		return changeset.ErrUnchanged
	}
	_, err = dst.Write(data)
	return err
}

// Apply returns the file with the names changed and the chats listed, and then without their
// metadata too.
func (e *Edit) Apply(raw []byte) (listed, data []byte, err error) {
	f, err := Parse(e.Path, raw)
	list := e.List
	if err == nil && e.Names != nil {
		open := ""
		if _, keep := e.Names(f.ChatID); !keep && e.Instead != "" {
			open, list = e.Instead, append([]string{e.Instead}, list...) // a fresh name is not in its list
		}
		if raw, err = f.WithNames(e.Names, open); err == nil {
			f, err = Parse(e.Path, raw)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if listed, err = f.WithChats(list...); err == nil && e.Open != "" {
		if f, err = Parse(e.Path, listed); err == nil {
			listed, err = f.WithOpen(e.Open)
		}
	}
	if err != nil || len(e.Forget) == 0 {
		return listed, listed, err
	}
	if f, err = Parse(e.Path, listed); err != nil {
		return nil, nil, err
	}
	data, err = f.WithoutOldMetadata(e.Forget...)
	return listed, data, err
}
