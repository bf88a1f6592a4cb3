package move

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/isolate"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
)

// bookNames renames a lorebook and the places that name it.
type bookNames struct {
	from, clone *lorebook.Book
	r           *Result
	s           *changeset.Set
	opt         *Options
	lib         *library.Library
	dir         userdir.Dir
}

// rename drafts the book under its new name, and what names it.
func (b *bookNames) rename(ctx context.Context, name string) (err error) {
	if err = b.fresh(name); err != nil {
		return err
	}
	from := b.r.Doc.From
	to := filepath.Join(filepath.Dir(from), b.clone.Name+lorebook.Extension)
	b.r.Doc.To = &to
	if bytes.Equal(b.clone.Raw, b.from.Raw) {
		err = b.s.Move(from, to, b.from.Stamp, fmt.Sprintf("the lorebook %q", b.from.Name))
	} else if err = ops.Create(b.s, to, "the lorebook under its new name", b.clone.Raw, changeset.Like(b.from.Stamp)); err == nil {
		err = b.s.Remove(from, b.from.Stamp, "its old name")
	} else {
		err = letterCase(from, to, err)
	}
	if err != nil {
		return err
	}
	return b.mentions(ctx)
}

// mentions drafts the new name in every place that names the book, and notes the files in the
// result.
func (b *bookNames) mentions(ctx context.Context) error {
	if err := b.chats(ctx); err != nil {
		return err
	}
	if err := b.cards(); err != nil {
		return err
	}
	if err := b.books(); err != nil {
		return err
	}
	return editSettings(b.s, b.r, b.dir, "lorebooks", "the lorebook where it is chosen", b.inSettings)
}

// chats edits the metadata of every chat that names the book.
func (b *bookNames) chats(ctx context.Context) error {
	walked := ops.Walk(ops.List{Paths: []string{b.dir.Root}, AllowEmpty: true})
	if len(walked.Errs) > 0 {
		return walked.Errs[0]
	}
	for _, t := range walked.Chats {
		c, err := chat.Open(ctx, t.Path, chat.Options{Groups: b.lib})
		if err != nil {
			return err
		}
		if err := b.metadataIsKnown(c); err != nil {
			c.Close()
			return err
		}
		md := c.Metadata() // of a chat that is read only to see what would change
		isClone := func(name string) bool { return names.LeadsTo(name, b.clone.Name) }
		if !b.r.Doc.TookOver && slices.ContainsFunc(all.Table().Books(md), isClone) {
			b.r.Warn("%s: names the lorebook %q, which was missing: from now on that is this one", t.Path, b.clone.Name)
		}
		lost := b.metadata(md)
		names := md.Edited()
		damaged := c.HeaderKind == chat.Damaged
		name := c.Name
		c.Close()
		switch {
		case damaged:
			return fmt.Errorf("%s: the header is damaged, so it is unknown whether it names the lorebook", t.Path)
		case !names:
			continue
		case c.Header == nil:
			return fmt.Errorf("%s: %w", t.Path, ErrInGroup)
		}

		b.r.Doc.edited(t.Path, "chat_metadata", 1)
		if lost > 0 {
			b.r.Warn("%s: %s dropped: the lorebook has no entry that fits", t.Path, plural.S(lost, "timed effect"))
		}
		lines := chat.Lines{family.HeaderEdit(func(md *rawjson.Object) { b.metadata(md) })}
		lines, err = ops.FreshSlug(b.s, lines, b.lib.Folder(filepath.Dir(t.Path)).Sidecars(name), b.opt.BumpIntegrity, b.opt.Changes)
		if err != nil {
			return err
		}
		if err := b.s.Edit(t.Path, safefile.Stamp{}, changeset.Joined(t.Path, lines), "the lorebook it names"); err != nil {
			return err
		}
	}
	return nil
}

// metadataIsKnown returns an error if a chat's metadata may be in a group file that cannot be read.
func (b *bookNames) metadataIsKnown(c *chat.Chat) error {
	mayBeElsewhere := c.Kind == userdir.Group && c.HeaderKind == chat.None && len(c.Groups) == 0
	if !mayBeElsewhere {
		return nil
	}
	groups, err := b.lib.Groups(b.dir)
	if err != nil || len(groups.Bad) == 0 {
		return err
	}
	return fmt.Errorf("%s: the chat has no header, so its metadata may be in this group file, which cannot be read: %w", c.Path, groups.Bad[0])
}

// metadata changes the book's name in a chat's metadata to the new one, and returns how many
// timed effects of core are lost.
func (b *bookNames) metadata(md *rawjson.Object) (lost int) {
	r := &extension.Renaming{Metadata: md, From: b.from, Plain: b.from, To: b.clone}
	isolate.Rename(r)
	return r.Lost
}

// books edits the entries of other lorebooks that name the book.
func (b *bookNames) books() error {
	entries, err := os.ReadDir(b.dir.Worlds())
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(b.dir.Worlds(), e.Name())
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != lorebook.Extension || path == b.from.Path {
			continue
		}
		changed, err := editEntries(b.s, path, b.from.Name, b.entries)
		if err != nil {
			return err
		}
		if changed {
			b.r.Doc.edited(path, "entries", 1)
		}
	}
	return nil
}

// renamed has the book's new name by the old one.
func (b *bookNames) renamed() map[string]string { return map[string]string{b.from.Name: b.clone.Name} }

// entries changes the book's name in the entries of a lorebook.
func (b *bookNames) entries(content []byte) []byte {
	return all.Table().RenameIn(content, extension.Lorebook, extension.Book, b.renamed())
}

// cards edits the cards that name the book.
func (b *bookNames) cards() error {
	entries, err := os.ReadDir(b.dir.Characters())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(b.dir.Characters(), e.Name())
		ext := filepath.Ext(e.Name())
		isState := ext == ".json" && strings.Contains(e.Name(), ".state.") // Luker's, beside a card
		if !e.Type().IsRegular() || ext != userdir.CardExtension && ext != ".json" || isState {
			continue
		}
		c, err := card.Open(path)
		if errors.Is(err, card.ErrNoData) {
			continue
		}
		if err != nil {
			return err
		}
		if !c.HasBook(b.from.Name) {
			continue
		}
		b.r.Doc.edited(path, "data.extensions.world", 1)
		now := card.Edit(path, func(c *card.Card) ([]byte, error) { return c.With(card.Book(b.renamed())) })
		if err := b.s.Edit(path, safefile.Stamp{}, now, "the character's lorebook"); err != nil {
			return err
		}
	}
	return nil
}

// inSettings returns settings.json with the book renamed.
func (b *bookNames) inSettings(settings []byte) (edited []byte, count int, err error) {
	if _, err := rawjson.ParseObject(settings); err != nil {
		return nil, 0, err
	}
	return all.Table().RenameIn(settings, extension.Settings, extension.Book, b.renamed()), 1, nil
}

// draftEntries renames chats in the entries of the lorebooks that they name.
func (n *renameSet) draftEntries(ctx context.Context) error {
	for _, path := range n.booksOfRenamed(ctx) {
		changed, err := editEntries(n.s, path, "", n.inEntries)
		if err != nil {
			return err
		}
		if changed {
			n.r.Doc.edited(path, "entries", 1)
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
	return all.Table().RenameIn(content, extension.Lorebook, extension.OwnChat, to)
}

// booksOf returns the names of the lorebooks that a chat names, none if it cannot be read.
func booksOf(ctx context.Context, lib *library.Library, path string) []string {
	md, err := metadataOf(ctx, lib, path)
	if err != nil {
		return nil
	}
	return all.Table().Books(md)
}

func metadataOf(ctx context.Context, lib *library.Library, path string) (*rawjson.Object, error) {
	c, err := chat.Open(ctx, path, chat.Options{Groups: lib, Any: true})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Metadata(), nil
}

// editEntries drafts an edit of the entries of a lorebook, if that changes it. A file that is
// no lorebook is an error if it mentions name, which it might be left with.
func editEntries(s *changeset.Set, path, name string, edit func(content []byte) []byte) (changed bool, err error) {
	raw, _, err := safefile.Read(path)
	if err != nil {
		return false, err
	}
	if _, err := lorebook.Parse(raw, path); err != nil {
		if name == "" || !mentions(raw, name) {
			err = nil
		}
		return false, err
	}

	if bytes.Equal(edit(raw), raw) {
		return false, nil
	}
	return true, s.Edit(path, safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) { return edit(old), nil }), "the names in entries of "+filepath.Base(path))
}

// mentions reports whether a file that cannot be parsed contains the name of a lorebook between two quotes.
func mentions(raw []byte, name string) bool {
	if bytes.Contains(raw, rawjson.Quote(name)) {
		return true
	}
	for text := range bytes.SplitSeq(raw, []byte{'"'}) {
		if names.LeadsTo(string(text), name) {
			return true
		}
	}
	return false
}
