package move

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/library"
	"stchat/internal/lorebook"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

// RenameBook renames a lorebook, and every mention of it in the user's files: the metadata
// of chats with their timed effects, cards, and SillyTavern's settings. If one of these
// cannot be read, nothing is written.
func RenameBook(ctx context.Context, opt RenameOptions) *Result {
	r := newResult(opt.Chat)
	return run(ctx, &opt.Options, r, func(ctx context.Context, s *changeset.Set) error { return renameBook(ctx, &opt, r, s) })
}

func renameBook(ctx context.Context, opt *RenameOptions, r *Result, s *changeset.Set) error {
	dir, ok := userdir.Enclosing(opt.Chat)
	if !ok || userdir.RealPath(filepath.Dir(opt.Chat)) != userdir.RealPath(dir.Worlds()) {
		return fmt.Errorf("%s: is no lorebook of a SillyTavern user folder", opt.Chat)
	}
	lib := new(library.Library)
	if err := ops.InFiles(lib, dir, opt.Chat); err != nil {
		return err
	}
	book, err := lorebook.Open(opt.Chat)
	if err != nil {
		return err
	}
	unreachable(r)
	b := &bookNames{from: book, r: r, s: s, opt: &opt.Options, lib: lib, dir: dir}
	return b.rename(ctx, opt.Name, func(string) bool { return false })
}

// fresh makes the book as its new file will hold it. The error wraps [ErrName] or [ErrTaken]
// if the name cannot be used.
func (b *bookNames) fresh(name string) error {
	book := b.from
	name = strings.TrimSuffix(name, lorebook.Extension)
	if strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("%q: %w: it has a / or \\", name, ErrName)
	}
	safe, err := names.New(name, names.MaxFile-len(lorebook.Extension))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrName, err)
	}
	if safe != name {
		b.r.Note("the name is made safe: %s → %s", name, safe)
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
	if data = b.entries(data); b.also != nil {
		data = b.also(data)
	}
	b.clone, err = lorebook.Parse(data, filepath.Join(filepath.Dir(book.Path), safe+lorebook.Extension))
	return err
}

func createBook(s *changeset.Set, path string, data []byte, like *lorebook.Book) error {
	d, err := s.Create(path, "the lorebook under its new name", changeset.Like(like.Stamp))
	if err == nil {
		_, err = d.Write(data)
	}
	return err
}
