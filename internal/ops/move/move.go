// Package move holds the verbs that create, open, rename, move and delete chats.
// Each finds what names a chat with package family, decides what becomes of
// those names, and drafts one change set: order, dry run, journal and undo are left to
// package changeset.
package move

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"stchat/internal/change/changeset"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/progress"
)

// Options are common to the verbs of this package.
type Options struct {
	Data          string // the user folder
	BumpIntegrity bool   // set a new slug in each chat that is edited in place
	Changes       changeset.Options
	Meter         *progress.Meter
}

// Moved describes what was done to a chat: a JSON document.
type Moved struct {
	Schema      int           `json:"schema"`
	From        string        `json:"from" is:"path"`
	To          *string       `json:"to" is:"path"` // null if it was deleted
	Edits       []ChangedFile `json:"edits"`
	Opened      *string       `json:"opened"` // the chat that its card or group opens with now
	Unreachable []string      `json:"unreachable"`
	Unnamed     []string      `json:"-"` // lorebooks that no chat names any more
	TookOver    bool          `json:"-"` // a lorebook that was there already has what named one that is gone
	OwnBook     *OwnBook      `json:"-"` // the chat's lorebook, whose name contains the chat's old one; nil: none
	ops.Warned
	ops.Written
}

// ChangedFile is one file in which names were changed.
type ChangedFile struct {
	Path  string `json:"path" is:"path"`
	What  string `json:"what"`
	Count int    `json:"count"`
}

func (m *Moved) edited(path, what string, count int) {
	m.Edits = append(m.Edits, ChangedFile{path, what, count})
}

// OwnBook is the lorebook of a chat that was renamed.
type OwnBook struct {
	Path string
	Name string // that would go with the chat's new name
}

// Result is the result for one chat.
type Result = ops.Result[Moved]

var (
	// ErrTaken means that another chat or lorebook, or the same one, already has the name.
	ErrTaken = error(&ops.Kind{Code: "exists", Text: "is taken", Hint: "name"})
	// ErrName means that a chat or lorebook cannot have a name.
	ErrName = error(&ops.Kind{Code: "usage", Text: "not a name"})
	// ErrLeftover means that Luker's state left over from another chat would become this chat's.
	ErrLeftover = error(&ops.Kind{Code: "refused", Text: "there is Luker state of a chat of this name already", Hint: "leftover"})
	// ErrNotListed means that no group lists a chat.
	ErrNotListed = error(&ops.Kind{Code: "refused", Text: "no group lists this chat"})
	// ErrInGroup means that metadata that would change is not in its chat.
	ErrInGroup = error(&ops.Kind{Code: "refused", Text: "its metadata is still in the group's file, as SillyTavern kept it up to 1.14", Hint: "repair"})
	// ErrRelatives means that relatives of a chat would stay behind.
	ErrRelatives = error(&ops.Kind{Code: "refused", Text: "relatives of the chat would stay behind", Hint: "relatives"})
)

// folder holds the chats of one folder and how they are related.
type folder struct {
	opt   *Options
	lib   *library.Library
	path  string
	graph *family.Graph
}

// read reads the chats in a folder.
func read(ctx context.Context, opt *Options, path string) (*folder, error) {
	f := &folder{opt: opt, lib: new(library.Library), path: path}
	if dir := f.lib.Folder(path); dir.HasDir {
		if err := ops.InFiles(f.lib, dir.Dir, path); err != nil {
			return nil, err
		}
	}

	graphs, err := family.Read(ctx, f.lib, []string{path}, family.Options{Meter: opt.Meter})
	if err != nil {
		return nil, ops.PathError(err)
	}
	f.graph = graphs[0]
	return f, f.unread()
}

// unread returns an error if a file that may name one of the chats cannot be read or changed
// meanwhile: it would be left with a name that leads nowhere. One that can be read but makes
// no sense does not stop anything; see [renameSet.warnUnread].
func (f *folder) unread() error {
	errs := f.around()
	for _, c := range f.graph.Chats {
		errs = append(errs, c.Err)
	}
	for _, err := range errs {
		_, failed := errors.AsType[syscall.Errno](err)
		if failed && !errors.Is(err, fs.ErrNotExist) || errors.Is(err, jsonl.ErrChanged) {
			return ops.PathError(err)
		}
	}
	return nil
}

// around returns why the card or group files cannot be read; nil stands for one that can.
func (f *folder) around() []error {
	if !f.isGroup() {
		return []error{f.graph.NoCard}
	}
	groups, err := f.lib.Groups(f.graph.Folder.Dir)
	if err != nil {
		return []error{err}
	}
	return slices.Clone(groups.Bad)
}

// chosen returns the chats at paths, and with them those below the chat that above returns for
// each, if it is not nil. An error is the result of the path that it is about.
func (n *renameSet) chosen(ctx context.Context, paths []string, above func(*family.Chat) *family.Chat) (list []*family.Chat, err error) {
	add := func(c *family.Chat, _ int) {
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}

	for _, path := range paths {
		n.r.Doc.From = path
		c, err := n.find(ctx, path)
		if err != nil {
			return nil, err
		}
		add(c, 0)
		if above != nil {
			family.Walk(above(c), add)
		}
	}
	return list, nil
}

// find returns the chat at a path. It is an error if the path is not a chat's, or its chat
// cannot be read.
func (f *folder) find(ctx context.Context, path string) (*family.Chat, error) {
	if err := chat.CheckName(path); err != nil {
		return nil, err
	}
	for _, c := range f.graph.Chats {
		if filepath.Base(c.Path) == filepath.Base(path) {
			if c.Err != nil {
				return nil, ops.PathError(c.Err)
			}
			return c, ops.PathError(chat.CheckFile(ctx, c.Path))
		}
	}
	return nil, ops.PathError(chat.Refuse(path))
}

// isGroup reports whether the chats are group chats.
func (f *folder) isGroup() bool { return f.graph.Folder.Kind == userdir.Group }

func newResult(from string) *Result { return &Result{Doc: Moved{Schema: 1, From: from}} }
