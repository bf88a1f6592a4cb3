package book

import (
	"context"
	"fmt"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/extension/isolate"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// rebinding is a chat that is being pointed at another lorebook.
type rebinding struct {
	shown   string // the path as given
	path    string // the path that shown leads to
	name    string // of the lorebook that the chat names; empty: none
	changes []extension.Change

	sidecars []luker.Sidecar // of a Luker chat
}

// rebind has the chat that the source is pointed at the clone.
func (j *job) rebind(ctx context.Context, lib *library.Library, opt Options) error {
	r, err := look(ctx, lib, opt, j.source)
	if err != nil {
		return err
	}
	j.chat = r
	shelf, err := lib.Shelf(j.folder)
	if err != nil {
		return nil //nolint:nilerr // making the clone will report it
	}
	if from, isClone := shelf.CloneOf(r.name); isClone {
		j.res.Warn("%s: the chat has a clone already: it names the lorebook %q, a clone of %q", r.shown, r.name, from)
	}
	return nil
}

// look opens a chat to rebind, and refuses one that cannot be edited.
func look(ctx context.Context, lib *library.Library, opt Options, shown string) (*rebinding, error) {
	if shown == chat.Stdin {
		return nil, ops.ErrNotInPlace
	}
	from, err := ops.Open(ctx, lib, shown, ops.Anything, chat.Options{Data: opt.Data})
	if err != nil {
		return nil, err
	}
	defer from.Close()
	switch from.HeaderKind {
	case chat.Damaged:
		return nil, from.Errorf("%w, so the chat cannot be pointed at another lorebook", ErrDamagedHeader)
	case chat.None:
		return nil, from.Errorf("the chat has no header in which it could name a lorebook (the layout of group chats up to 1.14); open it once in SillyTavern 1.16 or later")
	}

	r := &rebinding{shown: shown, path: userdir.RealPath(shown)}
	r.name, _ = lorebook.NameIn(from.Metadata())
	r.sidecars, err = from.Sidecars()
	return r, err
}

// draft drafts the edit that points the chat at the clone. Only the header line changes. A
// Luker chat gets a new slug with every edit, in its header and in its chat_sync (FORMATS.md
// A1.6).
func (r *rebinding) draft(opt Options, j *job, clone *lorebook.Book, s *changeset.Set) error {
	header := chat.LineEdit{Index: chat.HeaderIndex, Do: func(line []byte) ([]byte, error) {
		return meta.Edit(line, func(md *rawjson.Object) error {
			if name, _ := lorebook.NameIn(md); name != r.name {
				return safefile.ErrChanged
			}
			renaming := &extension.Renaming{Metadata: md, From: j.book, To: clone}
			isolate.Rebind(renaming)
			r.changes = renaming.Changes
			return nil
		})
	}}

	lines, err := ops.FreshSlug(s, chat.Lines{header}, r.sidecars, opt.BumpIntegrity, opt.Changes)
	if err != nil {
		return err
	}
	return s.Edit(r.shown, safefile.Stamp{}, changeset.Joined(r.shown, lines), fmt.Sprintf("the lorebook it names: %q", clone.Name))
}
