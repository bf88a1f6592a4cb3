package move

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
)

// RenameBook renames a lorebook, and every mention of it in the user's files: the metadata
// of chats with their timed effects, cards, and SillyTavern's settings. If one of these
// cannot be read, nothing is written.
//
// A lorebook that is gone may have been renamed already: SillyTavern's page leaves its old name in chats. Then the
// lorebook with the new name takes over what names the old one.
func RenameBook(ctx context.Context, opt RenameOptions) *Result {
	return changeBook(ctx, &opt.Options, opt.Chat, func(b *bookNames) error {
		if b.from == nil {
			return b.takeOver(ctx, opt.Name)
		}
		if strings.TrimSuffix(opt.Name, lorebook.Extension) == b.from.Name {
			b.r.Doc.To = &b.from.Path
			b.r.Tell(ops.Fact{Kind: ops.FactUnchanged, Path: b.from.Path})
			return nil
		}
		unreachable(b.r)
		return b.rename(ctx, opt.Name)
	})
}

// changeBook changes a lorebook of a user folder, and what names it. If the book does not exist, draft gets none
// in from.
func changeBook(ctx context.Context, opt *Options, path string, draft func(b *bookNames) error) *Result {
	r := newResult(path)
	ops.One(ctx, opt.Changes, r, changeset.Unit{Root: changeset.RootOf(path), Draft: func(_ context.Context, s *changeset.Set) error {
		dir, ok := userdir.AroundBook(path)
		if !ok {
			return fmt.Errorf("%s: not a lorebook of a SillyTavern user folder", path)
		}
		lib := new(library.Library)
		if err := ops.InFiles(lib, dir, path); err != nil {
			return err
		}
		book, err := lorebook.Open(path)
		if err != nil && !errors.Is(err, lorebook.ErrMissing) {
			return err
		}
		return draft(&bookNames{from: book, r: r, s: s, opt: opt, lib: lib, dir: dir})
	}})

	if r.Err != nil {
		r.Warnings = nil // they are about changes that were not made
	}
	return r
}

// ErrNamed means that a lorebook is still named by other files.
var ErrNamed = error(&ops.Kind{Code: "refused", Text: "the lorebook is still named by"})

// DeleteBook removes a lorebook that nothing names, and keeps it for undo until its record is
// dropped. The error wraps [ErrNamed] if a chat, card, other lorebook or setting names it; if one
// of these cannot be read, nothing is removed either.
func DeleteBook(ctx context.Context, opt Options, path string) *Result {
	opt.Changes.Precious = true
	return changeBook(ctx, &opt, path, func(b *bookNames) error {
		if b.from == nil {
			return fmt.Errorf("%s: %w", path, lorebook.ErrMissing)
		}
		b.clone = &lorebook.Book{} // the mentions would change; nothing is written if there are any
		if err := b.mentions(ctx); err != nil {
			return err
		}
		if by := b.r.Doc.Edits; len(by) > 0 {
			const most = 3
			var list []string
			for _, e := range by[:min(len(by), most)] {
				list = append(list, e.Path)
			}
			if more := len(by) - most; more > 0 {
				list = append(list, fmt.Sprintf("%d more", more))
			}
			return fmt.Errorf("%s: %w %s", path, ErrNamed, strings.Join(list, ", "))
		}
		return b.s.Remove(path, b.from.Stamp, fmt.Sprintf("the lorebook %q", b.from.Name))
	})
}

// takeOver drafts that what names a lorebook which is gone names the one called name, which was renamed
// without it. The error wraps [lorebook.ErrMissing] if there is none, too, or nothing that would be changed.
func (b *bookNames) takeOver(ctx context.Context, name string) error {
	gone := b.r.Doc.From
	name = strings.TrimSuffix(name, lorebook.Extension)
	if _, err := newName(name, lorebook.Extension, lorebook.MaxBytes); err != nil {
		return err
	}
	book, err := lorebook.Open(filepath.Join(filepath.Dir(gone), name+lorebook.Extension))
	if errors.Is(err, lorebook.ErrMissing) {
		return fmt.Errorf("%s: %w, and there is no %q to take over what names it", gone, lorebook.ErrMissing, name)
	}
	if err != nil {
		return err
	}

	// the entries are those that the lost book had, under its name
	if b.from, err = lorebook.Parse(book.Raw, gone); err != nil {
		return err
	}
	b.clone = book
	b.r.Doc.To = &book.Path
	b.r.Doc.TookOver = true
	b.s.Rely(gone, safefile.Stamp{})
	b.s.Rely(book.Path, book.Stamp)
	if err := b.mentions(ctx); err != nil {
		return err
	}
	if len(b.r.Doc.Edits) == 0 {
		return fmt.Errorf("%s: %w, and nothing names it", gone, lorebook.ErrMissing)
	}
	return nil
}

// fresh makes the book as its new file will hold it. The error wraps [ErrName] or [ErrTaken]
// if the name cannot be used.
func (b *bookNames) fresh(name string) error {
	book := b.from
	safe, err := newName(name, lorebook.Extension, names.MaxFile-len(lorebook.Extension))
	if err != nil {
		return err
	}
	if name = strings.TrimSuffix(name, lorebook.Extension); safe != name {
		b.r.WarnSafeName(book.Path, name, safe)
	}
	entries, err := os.ReadDir(b.dir.Worlds())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if other, ok := strings.CutSuffix(e.Name(), lorebook.Extension); ok && other != book.Name && names.Fold(other) == names.Fold(safe) {
			return fmt.Errorf("%q %w: there is a lorebook %q", safe, ErrTaken, other)
		}
	}

	if safe == book.Name {
		return fmt.Errorf("%s: %w: it already has this name", book.Path, ErrTaken)
	}
	data := book.Raw
	if book.HasInner && book.InnerName == book.Name {
		if data, err = rawjson.SetPath(book.Raw, rawjson.Quote(safe), "name"); err != nil {
			return err
		}
	}

	b.clone = &lorebook.Book{Name: safe}
	b.clone, err = lorebook.Parse(b.entries(data), filepath.Join(filepath.Dir(book.Path), safe+lorebook.Extension))
	return err
}

// noteOwnBook notes how the lorebook that a chat names is renamed after it, if its name contains the chat's.
func (n *renameSet) noteOwnBook(ctx context.Context, c *family.Chat) error {
	if !n.graph.Folder.HasDir {
		return nil
	}
	md, err := metadataOf(ctx, n.lib, c.Path)
	if err != nil {
		return err
	}
	name, _ := lorebook.NameIn(md)
	to := bookLike(name, c.Name, n.to[c])
	if name == "" || to == "" {
		return nil
	}
	book, err := n.lib.Book(n.graph.Folder.Dir, name)
	if errors.Is(err, lorebook.ErrMissing) {
		return nil
	}
	if err == nil {
		n.r.Doc.OwnBook = &OwnBook{Path: book, Name: to}
	}
	return err
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
