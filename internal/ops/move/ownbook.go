package move

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/family"
	"stchat/internal/library"
	"stchat/internal/lorebook"
	"stchat/internal/names"
	"stchat/internal/userdir"
)

// renameOwnBook renames the lorebook that a chat names along with the chat, and returns the
// book's result; nil, with a note, if there is no book whose name contains the chat's.
func renameOwnBook(ctx context.Context, n *naming, c *family.Chat, s *changeset.Set) (*Result, error) {
	f := n.folder
	name, err := bookOf(ctx, f.lib, c.Path)
	switch {
	case err != nil:
		return nil, err
	case name == "" || !f.graph.Folder.HasDir:
		n.r.Note("the chat names no lorebook that could be renamed with it")
		return nil, nil
	}
	to := bookLike(name, c.Name, n.to[c])
	if to == "" {
		n.r.Note("the lorebook %q does not have the chat's name in its own, and keeps it", name)
		return nil, nil
	}
	path, err := f.lib.Book(f.graph.Folder.Dir, name)
	if errors.Is(err, lorebook.ErrMissing) {
		n.r.Note("the lorebook %q does not exist, so it is not renamed", name)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	book, err := lorebook.Open(path)
	if err != nil {
		return nil, err
	}
	n.book = &bookNames{from: book, r: newResult(path), s: s, opt: f.opt, lib: f.lib, dir: f.graph.Folder.Dir, also: n.inEntries}
	mine := map[string]*family.Chat{}
	for _, other := range f.graph.Chats {
		mine[filepath.Base(other.Path)] = other
	}
	here := userdir.RealPath(f.path)
	err = n.book.rename(ctx, to, func(path string) bool {
		other := mine[filepath.Base(path)]
		if other == nil || userdir.RealPath(filepath.Dir(path)) != here {
			return false
		}
		e := n.file(other.Path, other)
		e.book = true
		e.count++
		return true
	})
	return n.book.r, err
}

// bookOf returns the name of the lorebook that a chat names, "" for none.
func bookOf(ctx context.Context, lib *library.Library, path string) (string, error) {
	c, err := chat.Open(ctx, path, chat.Options{Groups: lib, Any: true})
	if err != nil {
		return "", err
	}
	defer c.Close()
	name, _ := lorebook.NameIn(c.Metadata())
	return name, nil
}

// bookLike returns the new name of a lorebook when its chat is renamed: for a clone that ends
// in the chat's own part of its name, or a book whose name contains the whole name. For any
// other book it returns "".
func bookLike(book, from, to string) string {
	if label := lorebook.CloneLabel(book); label != "" && label == ownPart(from) {
		return strings.TrimSuffix(book, label) + ownPart(to)
	}
	if strings.Contains(book, from) {
		return strings.ReplaceAll(book, from, to)
	}
	return ""
}

// ownPart returns the part of a chat's name that its parent's lacks, as checkpoints and
// branches are named: what follows the last "__", or an ending such as "Branch #2"; else the
// whole name.
func ownPart(name string) string {
	if at := strings.LastIndex(name, "__"); at >= 0 && at+2 < len(name) {
		return name[at+2:]
	}
	for _, kind := range []names.Kind{names.Checkpoint, names.Branch} {
		if rest, ok := strings.CutPrefix(name, names.Clean(name, kind)); ok && rest != "" {
			return strings.TrimPrefix(rest, " - ")
		}
	}
	return name
}
