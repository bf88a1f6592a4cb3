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
	"stchat/internal/ops"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
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

// rename drafts the book under its new name, and what names it. It does not draft the chats
// for which mine returns true: the caller drafts them itself, with metadata.
func (b *bookNames) rename(ctx context.Context, name string, mine func(path string) bool) (err error) {
	if b.clone, err = renamedBook(b.dir, b.from, name, b.r); err != nil {
		return err
	}
	from := b.r.Doc.From
	to := filepath.Join(filepath.Dir(from), b.clone.Name+lorebook.Extension)
	b.r.Doc.To = &to
	if bytes.Equal(b.clone.Raw, b.from.Raw) {
		err = b.s.Move(from, to, b.from.Stamp, fmt.Sprintf("the lorebook %q", b.from.Name))
	} else if err = createBook(b.s, to, b.clone.Raw, b.from); err == nil {
		err = b.s.Remove(from, b.from.Stamp, "its old name")
	}
	if err != nil {
		return err
	}
	if err := b.chats(ctx, mine); err != nil {
		return err
	}
	if err := b.cards(); err != nil {
		return err
	}
	return editSettings(b.s, b.r, b.dir, "lorebooks", "the lorebook where it is chosen", func(old []byte) ([]byte, int, error) {
		edited, err := b.inSettings(old)
		return edited, 1, err
	})
}

func (b *bookNames) edited(path, what string) {
	b.r.Doc.Edits = append(b.r.Doc.Edits, Edited{path, what, 1})
}

// chats edits the metadata of every chat that names the book.
func (b *bookNames) chats(ctx context.Context, mine func(path string) bool) error {
	walked := ops.Walk(ops.List{Paths: []string{b.dir.Root}, AllowEmpty: true})
	if len(walked.Errs) > 0 {
		return walked.Errs[0]
	}
	for _, t := range walked.Chats {
		c, err := chat.Open(ctx, t.Path, chat.Options{Groups: b.lib})
		if err != nil {
			return err
		}
		names, lost := false, 0
		if c.Header != nil {
			names, lost = b.inMetadata(c.Metadata().Bytes())
		}
		damaged, name := c.HeaderKind == chat.Damaged, c.Name
		c.Close()
		switch {
		case damaged:
			return fmt.Errorf("%s: the header is damaged, so it is unknown whether it names the lorebook", t.Path)
		case !names:
			continue
		}
		b.edited(t.Path, "chat_metadata")
		if lost > 0 {
			b.r.Warn("%s: %s dropped: the lorebook has no entry that fits", t.Path, plural.S(lost, "timed effect"))
		}
		if mine(t.Path) {
			continue
		}
		lines, err := withNewSlug(chat.Lines{{Index: chat.HeaderIndex, Do: headerDo(b.metadata)}}, b.opt, b.lib.Folder(filepath.Dir(t.Path)), name, b.s)
		if err != nil {
			return err
		}
		if err := b.s.Edit(t.Path, safefile.Stamp{}, changeset.Joined(lines), "the lorebook it names"); err != nil {
			return err
		}
	}
	return nil
}

// inMetadata reports whether metadata names the book, and how many timed effects of core
// are lost when it is renamed.
func (b *bookNames) inMetadata(metadata []byte) (names bool, lost int) {
	md, err := rawjson.ParseObject(bytes.Clone(metadata))
	if err != nil {
		return false, 0
	}
	before, effects := string(md.Bytes()), timedEffects(md)
	b.metadata(md)
	return string(md.Bytes()) != before, effects - timedEffects(md)
}

// timedEffects counts the timed effects in metadata.
func timedEffects(md *rawjson.Object) (n int) {
	for _, effects := range rawjson.Members(md.Value("timedWorldInfo")) {
		for range rawjson.Members(effects) {
			n++
		}
	}
	return n
}

// metadata changes the book's name in a chat's metadata to the new one.
func (b *bookNames) metadata(md *rawjson.Object) {
	world, had := md.Get("world_info")
	name, _ := rawjson.Unquote(world)
	auto := autorecap.BookName(md)
	isolate.Follow(md, isolate.Rebinding{From: b.from, Clone: b.clone})
	switch { // Follow assumes that the chat names the book
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

// cards edits the cards that name the book.
func (b *bookNames) cards() error {
	entries, err := os.ReadDir(b.dir.Characters())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(b.dir.Characters(), e.Name())
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

// inSettings renames the book in settings.json: among the books that are active everywhere,
// and those of characters and personas (world-info.js, personas.js of 1.19).
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
	set(list(rawjson.Value(settings, "world_info_settings", "world_info", "globalSelect")), "world_info_settings", "world_info", "globalSelect")
	set(rawjson.EditList(rawjson.Value(settings, "world_info_settings", "world_info", "charLore"), func(_ int, entry []byte) ([]byte, bool) {
		books, ok := rawjson.Lookup(entry, "extraBooks")
		if edited := list(books); ok && !bytes.Equal(edited, books) {
			if whole, err := rawjson.SetPath(entry, edited, "extraBooks"); err == nil {
				return whole, true
			}
		}
		return entry, true
	}), "world_info_settings", "world_info", "charLore")
	if is(rawjson.Value(settings, "power_user", "persona_description_lorebook")) {
		set(fresh, "power_user", "persona_description_lorebook")
	}
	personas := rawjson.Value(settings, "power_user", "persona_descriptions")
	for key := range rawjson.Members(personas) {
		name, _ := rawjson.Unquote(key)
		if is(rawjson.Value(personas, name, "lorebook")) {
			set(fresh, "power_user", "persona_descriptions", name, "lorebook")
		}
	}
	return settings, nil
}
