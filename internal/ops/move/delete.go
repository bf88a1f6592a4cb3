package move

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/family"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/group"
)

// DeleteOptions says which chats are deleted.
type DeleteOptions struct {
	Options
	Chats  []string
	Family bool // all descendants too
}

// Delete removes chats with their sidecars, and keeps them for undo until its record is
// dropped. It returns a result for every chat deleted, grouped by folder, and one for each
// folder in which it failed.
func Delete(ctx context.Context, opt DeleteOptions) []*Result {
	results, _ := deleteChosen(ctx, opt, func(_ *renameSet, list []*family.Chat) ([]*family.Chat, error) { return list, nil })
	return results
}

// deleteChosen deletes those of the chats in each folder that choose returns. A folder with none has no
// result.
func deleteChosen(ctx context.Context, opt DeleteOptions, choose func(n *renameSet, list []*family.Chat) ([]*family.Chat, error)) (results []*Result, kept []Kept) {
	opt.Changes.Precious = true
	var first []string            // of each folder
	with := map[string][]string{} // those of the folder of a first one
	firstOf := map[string]string{}
	for _, path := range opt.Chats {
		folder := userdir.RealPath(filepath.Dir(path))
		if firstOf[folder] == "" {
			firstOf[folder] = path
			first = append(first, path)
		}
		with[firstOf[folder]] = append(with[firstOf[folder]], path)
	}

	var above func(*family.Chat) *family.Chat
	if opt.Family {
		above = func(c *family.Chat) *family.Chat { return c }
	}
	for _, n := range changeEach(ctx, &opt.Options, first, func(n *renameSet) error {
		goes, err := n.chosen(ctx, with[n.r.Doc.From], above)
		if err == nil {
			goes, err = choose(n, goes)
		}
		if err != nil || len(goes) == 0 {
			return err
		}
		for _, c := range goes {
			n.to[c] = ""
		}
		n.r.Doc.From = goes[0].Path
		n.begin(goes)
		n.chooseOpen()
		n.collect()
		n.noteBookless(ctx)
		return nil
	}) {
		kept = append(kept, n.kept...)
		if n.r.Err != nil || len(n.goes) > 0 {
			results = append(results, n.results...)
		}
	}
	return results, kept
}

// noteBookless records the lorebooks that the deleted chats name and no other chat of the user
// does.
func (n *renameSet) noteBookless(ctx context.Context) {
	dir := n.graph.Folder
	if !dir.HasDir {
		return
	}
	left, going := map[string]bool{}, map[string]bool{}
	for _, c := range n.goes {
		going[userdir.RealPath(c.Path)] = true
		for _, book := range booksOf(ctx, n.lib, c.Path) {
			left[names.OnDisk(book)] = true
		}
	}

	if len(left) == 0 {
		return
	}
	for _, t := range ops.Walk(ops.List{Paths: []string{dir.Dir.Root}, AllowEmpty: true}).Chats {
		if len(left) == 0 {
			return
		}
		if !going[userdir.RealPath(t.Path)] {
			for _, book := range booksOf(ctx, n.lib, t.Path) {
				delete(left, names.OnDisk(book))
			}
		}
	}

	n.r.Doc.Unnamed = slices.Sorted(maps.Keys(left))
}

// draftPins updates the chats that are renamed or move in what is pinned on SillyTavern's welcome screen: in
// settings.json, accountStorage.pinnedChats, an object as JSON text, keyed by owner and file
// (welcome-screen.js of 1.19).
func (n *renameSet) draftPins() error {
	dir := n.graph.Folder
	if !dir.HasDir || len(n.renamed()) == 0 {
		return nil
	}
	return editSettings(n.s, n.r, dir.Dir, "pinned chats", "the chats that are pinned", n.pinned)
}

// pinned returns the settings with the pins renamed, and how many were.
func (n *renameSet) pinned(settings []byte) (edited []byte, count int, err error) {
	pins := pinsIn(settings)
	if pins == nil {
		return settings, 0, nil
	}
	for _, c := range n.renamed() {
		old, fresh := c.Name+names.Extension, n.to[c]+names.Extension
		for _, by := range pinOwners(n.folder, c) {
			key := by.key(old)
			pin, ok := rawjson.Lookup(pins, key)
			if !ok {
				continue
			}
			count++
			if n.elsewhere != nil {
				by = pinOwnerOf(n.elsewhere.Avatar, n.elsewhere.Group)
			}
			if to := by.key(fresh); to != key && rawjson.Value(pins, to) != nil {
				pins = rawjson.DeletePath(pins, key) // two groups listed it
				continue
			}
			if whole, err := rawjson.SetPath(pins, by.pin(pin, fresh), key); err == nil {
				pins = whole
			}
			pins = rawjson.RenameKey(pins, key, by.key(fresh))
		}
	}

	if count == 0 {
		return settings, 0, nil
	}
	edited, err = rawjson.SetPath(settings, rawjson.Quote(string(pins)), "accountStorage", "pinnedChats")
	return edited, count, err
}

// pinsIn returns the chats that settings have pinned, nil for none.
func pinsIn(settings []byte) []byte {
	text, ok := rawjson.Unquote(rawjson.Value(settings, "accountStorage", "pinnedChats"))
	if !ok {
		return nil
	}
	return []byte(text)
}

// pinOwner is whose chat is pinned: a character, by its avatar, or a group, by its id.
type pinOwner struct{ prefix, kind, id string }

func pinOwnerOf(avatar string, g *group.File) pinOwner {
	if g != nil {
		return pinOwner{"group_", "group", strings.TrimSuffix(filepath.Base(g.Path), ".json")}
	}
	return pinOwner{"char_", "avatar", avatar}
}

// key returns the key of the pin of a chat's file.
func (o pinOwner) key(file string) string { return o.prefix + o.id + "_" + file }

// pin returns a pin for a chat's file of this owner.
func (o pinOwner) pin(pin []byte, file string) []byte {
	return rawjson.Edit(pin, func(p *rawjson.Object) {
		p.Set("file_name", rawjson.Quote(file))
		if p.Has(o.kind) {
			p.Set(o.kind, rawjson.Quote(o.id))
		}
	})
}

// pinOwners returns the owners of a chat.
func pinOwners(f *folder, c *family.Chat) (list []pinOwner) {
	if f.graph.Folder.Kind == userdir.Solo {
		path := ""
		if f.graph.Card != nil {
			path = f.graph.Card.Path
		}
		return []pinOwner{pinOwnerOf(address.AvatarOf(path, f.graph.Folder.Owner), nil)}
	}

	for _, g := range f.graph.Groups {
		if slices.Contains(c.Groups, g.Path) {
			list = append(list, pinOwnerOf("", g))
		}
	}
	return list
}

// settingsOf returns the path of a user's settings.
func settingsOf(dir userdir.Dir) string { return filepath.Join(dir.Root, "settings.json") }

// readSettings returns a user's settings.json, nil if there is none. An error about what it says names it.
func readSettings(dir userdir.Dir) ([]byte, error) {
	path := settingsOf(dir)
	raw, _, err := safefile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if damage := jsonl.Check(raw); damage != nil {
		return nil, &jsonl.LineError{Path: path, Damage: *damage}
	}
	if _, err := rawjson.ParseObject(raw); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return raw, nil
}

// editSettings drafts an edit of a user's settings.json, if there is one and the edit changes
// it, and notes it in the result as what. edit returns the new content, and how many values
// it changed.
func editSettings(s *changeset.Set, r *Result, dir userdir.Dir, what, why string, edit func(old []byte) ([]byte, int, error)) error {
	path := settingsOf(dir)
	raw, _, err := safefile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	edited, count, err := edit(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if count == 0 || bytes.Equal(edited, raw) {
		return nil
	}
	r.Doc.edited(path, what, count)
	return s.Edit(path, safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) {
		edited, _, err := edit(old)
		return edited, err
	}), why)
}
