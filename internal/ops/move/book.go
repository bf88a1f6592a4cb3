package move

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/autorecap"
	"stchat/internal/card"
	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/isolate"
	"stchat/internal/library"
	"stchat/internal/lorebook"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// RenameBook gives a lorebook another name, and everything of its user that names it: the
// metadata of chats with their timed effects, cards, and SillyTavern's settings. Where one
// of these cannot be read, nothing is written.
func RenameBook(ctx context.Context, opt RenameOptions) *Result {
	r := newResult(opt.Chat, &opt.Options)
	o := changeset.Run(ctx, []changeset.Unit{{Root: changeset.RootOf(opt.Chat), Draft: func(ctx context.Context, s *changeset.Set) error {
		return ops.PathError(renameBook(ctx, &opt, r, s))
	}}}, opt.Changes)[0]
	return finish(r, o)
}

func renameBook(ctx context.Context, opt *RenameOptions, r *Result, s *changeset.Set) error {
	dir, ok := userdir.Enclosing(opt.Chat)
	if !ok || userdir.RealPath(filepath.Dir(opt.Chat)) != userdir.RealPath(dir.Worlds()) {
		return fmt.Errorf("%s: is no lorebook of a SillyTavern user folder", opt.Chat)
	}
	lib := new(library.Library)
	if reason := lib.Database(dir); reason != "" {
		return fmt.Errorf("%s: %w: %s", opt.Chat, ErrDatabase, reason)
	}
	book, err := lorebook.Open(opt.Chat)
	if err != nil {
		return err
	}
	clone, err := renamedBook(dir, book, opt.Name, r)
	if err != nil {
		return err
	}
	to := filepath.Join(filepath.Dir(opt.Chat), clone.Name+lorebook.Extension)
	r.Doc.To = &to
	if bytes.Equal(clone.Raw, book.Raw) {
		err = s.Move(opt.Chat, to, book.Stamp, fmt.Sprintf("the lorebook %q", book.Name))
	} else if err = createBook(s, to, clone.Raw, book); err == nil {
		err = s.Remove(opt.Chat, book.Stamp, "its old name")
	}
	if err != nil {
		return err
	}
	b := &bookNames{from: book, clone: clone, r: r, s: s, opt: &opt.Options}
	if err := b.chats(ctx, lib, dir); err != nil {
		return err
	}
	if err := b.cards(dir); err != nil {
		return err
	}
	return editSettings(s, r, dir, "lorebooks", "the lorebook where it is chosen", func(old []byte) ([]byte, int, error) {
		edited, err := b.inSettings(old)
		return edited, 1, err
	})
}

// renamedBook returns the book as it will be in its file.
func renamedBook(dir userdir.Dir, book *lorebook.Book, name string, r *Result) (*lorebook.Book, error) {
	name = strings.TrimSuffix(name, lorebook.Extension)
	if strings.ContainsAny(name, `/\`) {
		return nil, fmt.Errorf("%q: %w: it has a / or \\", name, ErrName)
	}
	safe, err := names.New(name, names.MaxFile-len(lorebook.Extension))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrName, err)
	}
	if safe != name {
		r.Note("the name is made safe: %s → %s", name, safe)
	}
	entries, err := os.ReadDir(dir.Worlds())
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if other, ok := strings.CutSuffix(e.Name(), lorebook.Extension); ok && other != book.Name && names.Fold(other) == names.Fold(safe) {
			return nil, fmt.Errorf("%q %w: there is a lorebook %q", safe, ErrTaken, other)
		}
	}
	if safe == book.Name {
		return nil, fmt.Errorf("%s: %w: it is called so already", book.Path, ErrTaken)
	}
	data := book.Raw
	if book.HasInner && book.InnerName == book.Name {
		if data, err = rawjson.SetPath(book.Raw, rawjson.Quote(safe), "name"); err != nil {
			return nil, err
		}
	}
	return lorebook.Parse(data, filepath.Join(filepath.Dir(book.Path), safe+lorebook.Extension))
}

func createBook(s *changeset.Set, path string, data []byte, like *lorebook.Book) error {
	d, err := s.Create(path, "the lorebook under its new name", changeset.Like(like.Stamp))
	if err == nil {
		_, err = d.Write(data)
	}
	return err
}

// bookNames is what becomes of the places that name a lorebook.
type bookNames struct {
	from, clone *lorebook.Book
	r           *Result
	s           *changeset.Set
	opt         *Options
}

func (b *bookNames) edited(path, what string) {
	b.r.Doc.Edits = append(b.r.Doc.Edits, Edited{path, what, 1})
}

// chats edits the metadata of every chat that names the book.
func (b *bookNames) chats(ctx context.Context, lib *library.Library, dir userdir.Dir) error {
	walked := ops.Walk(ops.List{Paths: []string{dir.Root}, AllowEmpty: true})
	if len(walked.Errs) > 0 {
		return walked.Errs[0]
	}
	for _, t := range walked.Chats {
		c, err := chat.Open(ctx, t.Path, chat.Options{Groups: lib})
		if err != nil {
			return err
		}
		names := c.Header != nil && b.inMetadata(c.Metadata().Bytes())
		damaged := c.HeaderKind == chat.Damaged
		c.Close()
		switch {
		case damaged:
			return fmt.Errorf("%s: the header is damaged, so nobody knows whether it names the lorebook", t.Path)
		case !names:
			continue
		}
		line := chat.LineEdit{Index: chat.HeaderIndex, Do: headerDo(b.metadata)}
		if err := b.s.Edit(t.Path, safefile.Stamp{}, changeset.Joined(chat.Lines{line}), "the lorebook it names"); err != nil {
			return err
		}
		b.edited(t.Path, "chat_metadata")
	}
	return nil
}

// inMetadata reports whether metadata may name the book.
func (b *bookNames) inMetadata(metadata []byte) bool {
	md, err := rawjson.ParseObject(bytes.Clone(metadata))
	if err != nil {
		return false
	}
	before := string(md.Bytes())
	b.metadata(md)
	return string(md.Bytes()) != before
}

// metadata points what names the book at its new name.
func (b *bookNames) metadata(md *rawjson.Object) {
	world, had := md.Get("world_info")
	name, _ := rawjson.Unquote(world)
	auto := autorecap.BookName(md)
	isolate.Follow(md, isolate.Rebinding{From: b.from, Clone: b.clone})
	switch { // Follow takes it for granted that the chat names the book
	case name == b.from.Name:
	case had:
		md.Set("world_info", world)
	default:
		md.Unset("world_info")
	}
	if auto != "" && auto != b.from.Name {
		autorecap.FollowBook(md, auto, func(string) bool { return false })
	}
	autorecap.RenameBook(md, b.from.Name, b.clone.Name)
}

// cards edits the cards that have the book.
func (b *bookNames) cards(dir userdir.Dir) error {
	entries, err := os.ReadDir(dir.Characters())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir.Characters(), e.Name())
		if ext := filepath.Ext(e.Name()); !e.Type().IsRegular() || ext != ".png" && ext != ".json" || strings.Contains(e.Name(), ".state.") {
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
		b.edited(path, "data.extensions.world")
		err = b.s.Edit(path, safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) {
			now, err := card.Parse(old, path)
			if err != nil {
				return nil, err
			}
			return now.WithBook(b.from.Name, b.clone.Name)
		}), "the character's lorebook")
		if err != nil {
			return err
		}
	}
	return nil
}

// inSettings renames the book in settings.json: what is active everywhere, what belongs to
// characters and to personas (world-info.js, personas.js of 1.19).
func (b *bookNames) inSettings(settings []byte) ([]byte, error) {
	if _, err := rawjson.ParseObject(settings); err != nil {
		return nil, err
	}
	is := func(raw []byte) bool {
		name, ok := rawjson.Unquote(raw)
		return ok && name == b.from.Name
	}
	fresh := rawjson.Quote(b.clone.Name)
	list := func(raw []byte) []byte {
		return rawjson.EditList(raw, func(_ int, value []byte) ([]byte, bool) {
			if is(value) {
				return fresh, true
			}
			return value, true
		})
	}
	set := func(value []byte, path ...string) {
		if old, ok := rawjson.Lookup(settings, path...); ok && !bytes.Equal(old, value) {
			if edited, err := rawjson.SetPath(settings, value, path...); err == nil {
				settings = edited
			}
		}
	}
	global, _ := rawjson.Lookup(settings, "world_info_settings", "world_info", "globalSelect")
	set(list(global), "world_info_settings", "world_info", "globalSelect")
	lore, _ := rawjson.Lookup(settings, "world_info_settings", "world_info", "charLore")
	set(rawjson.EditList(lore, func(_ int, entry []byte) ([]byte, bool) {
		books, ok := rawjson.Lookup(entry, "extraBooks")
		if edited := list(books); ok && !bytes.Equal(edited, books) {
			if whole, err := rawjson.SetPath(entry, edited, "extraBooks"); err == nil {
				return whole, true
			}
		}
		return entry, true
	}), "world_info_settings", "world_info", "charLore")
	if raw, _ := rawjson.Lookup(settings, "power_user", "persona_description_lorebook"); is(raw) {
		set(fresh, "power_user", "persona_description_lorebook")
	}
	personas, _ := rawjson.Lookup(settings, "power_user", "persona_descriptions")
	for key := range rawjson.Members(personas) {
		name, _ := rawjson.Unquote(key)
		if raw, _ := rawjson.Lookup(personas, name, "lorebook"); is(raw) {
			set(fresh, "power_user", "persona_descriptions", name, "lorebook")
		}
	}
	return settings, nil
}
