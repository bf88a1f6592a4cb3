package move

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/card"
	"stchat/internal/changeset"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// cards edits the cards that have the book.
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
