package move

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/library"
	"stchat/internal/lorebook"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// draftEntries renames chats in the entries of the lorebooks that they name. The lorebook that
// is renamed with the chat is left to [bookNames].
func draftEntries(ctx context.Context, n *renameSet) error {
	for _, path := range n.booksOfRenamed(ctx) {
		if n.book != nil && n.book.from.Path == path {
			continue
		}
		changed, err := editEntries(n.s, path, "", n.inEntries)
		if err != nil {
			return err
		}
		if changed {
			n.edited(path, "entries", 1)
		}
	}
	return nil
}

// booksOfRenamed returns the paths of the lorebooks that the chats with a new name name.
func (n *renameSet) booksOfRenamed(ctx context.Context) (paths []string) {
	at := n.graph.Folder
	for _, c := range n.renamed() {
		if !at.HasDir || n.to[c] == c.Name {
			continue
		}
		for _, name := range booksOf(ctx, n.lib, c.Path) {
			path, err := n.lib.Book(at.Dir, name)
			if err == nil && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// inEntries renames the chats in the entries of a lorebook.
func (n *renameSet) inEntries(content []byte) []byte {
	to := map[string]string{}
	for _, c := range n.renamed() {
		to[c.Name] = n.to[c]
	}
	return all.Names().RenameIn(content, extension.Lorebook, extension.OwnChat, func(chat string) string {
		return cmp.Or(to[chat], chat)
	})
}

// booksOf returns the names of the lorebooks that a chat names, none if it cannot be read.
func booksOf(ctx context.Context, lib *library.Library, path string) []string {
	c, err := chat.Open(ctx, path, chat.Options{Groups: lib, Any: true})
	if err != nil {
		return nil
	}
	defer c.Close()
	return all.Names().Books(c.Metadata())
}

// editEntries drafts an edit of the entries of a lorebook, if that changes it. A file that is
// no lorebook is an error if it mentions name, which it might be left with.
func editEntries(s *changeset.Set, path, name string, edit func(content []byte) []byte) (changed bool, err error) {
	raw, _, err := safefile.Read(path)
	if err != nil {
		return false, err
	}
	if _, err := lorebook.Parse(raw, path); err != nil {
		if name == "" || !bytes.Contains(raw, rawjson.Quote(name)) {
			err = nil
		}
		return false, err
	}
	if bytes.Equal(edit(raw), raw) {
		return false, nil
	}
	return true, s.Edit(path, safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) { return edit(old), nil }), "the names in entries of "+filepath.Base(path))
}
