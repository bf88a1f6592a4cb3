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
	"sync"

	"stchat/internal/changeset"
	"stchat/internal/family"
	"stchat/internal/group"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// DeleteOptions says which chats are deleted.
type DeleteOptions struct {
	Options
	Chats  []string
	Family bool // all descendants too
	Keep   bool // leave links to them as they are
}

// Delete removes chats with their sidecars, and keeps them for undo until its record is
// dropped. It returns a result for every chat deleted, grouped by folder, and one for each
// folder in which it failed.
func Delete(ctx context.Context, opt DeleteOptions) []*Result { return deleteChosen(ctx, opt, nil) }

// deleteChosen is [Delete] for those of the chats in a folder that choose returns; nil: all.
func deleteChosen(ctx context.Context, opt DeleteOptions, choose func(f *folder, list []*family.Chat) ([]*family.Chat, error)) []*Result {
	opt.Changes.Precious = true
	byFolder := map[string][]string{}
	var folders []string
	for _, path := range opt.Chats {
		key := userdir.RealPath(filepath.Dir(path))
		if byFolder[key] == nil {
			folders = append(folders, key)
		}
		byFolder[key] = append(byFolder[key], path)
	}
	more := map[*Result][]*Result{}
	var mu sync.Mutex // of more
	firsts := ops.Each(ctx, opt.Changes, folders, func(key string) (*Result, changeset.Unit) {
		paths := byFolder[key]
		r := newResult(paths[0])
		return r, changeset.Unit{Root: changeset.RootOf(paths[0]), Draft: func(ctx context.Context, s *changeset.Set) error {
			others, err := deleteIn(ctx, &opt, paths, choose, r, s)
			mu.Lock()
			defer mu.Unlock()
			more[r] = others
			return err
		}}
	})
	var results []*Result
	for _, first := range firsts {
		results = append(results, together(first, more[first])...)
	}
	return results
}

// deleteIn deletes chats of one folder. r is the first one's result and takes all warnings
// and notes; the results of the others are returned.
func deleteIn(ctx context.Context, opt *DeleteOptions, paths []string, choose func(*folder, []*family.Chat) ([]*family.Chat, error), r *Result, s *changeset.Set) (more []*Result, err error) {
	f, err := read(ctx, &opt.Options, filepath.Dir(paths[0]))
	if err != nil {
		return nil, err
	}
	var above func(*family.Chat) *family.Chat
	if opt.Family {
		above = func(c *family.Chat) *family.Chat { return c }
	}
	goes, err := f.chosen(paths, above)
	if err != nil {
		return nil, err
	}
	if choose != nil {
		if goes, err = choose(f, goes); err != nil || len(goes) == 0 {
			return nil, err
		}
	}
	n := newRenameSet(f, r, s)
	n.keep = opt.Keep
	for _, c := range goes {
		n.to[c] = ""
	}
	r.Doc.From = goes[0].Path
	for _, c := range goes[1:] {
		more = append(more, newResult(c.Path))
	}
	results := append([]*Result{r}, more...)
	if !opt.Keep {
		n.chooseOpen(goes, results)
	}
	n.collect()
	for _, d := range r.Doc.Dangling {
		r.Warn("%s: %s names %q, which no longer exists", d.Path, d.Key, d.Name)
	}
	noteBookless(ctx, f, goes, r)
	unreachable(r)
	return more, n.draft(ctx)
}

// noteBookless records the lorebooks that the deleted chats name and no other chat of the user
// does.
func noteBookless(ctx context.Context, f *folder, goes []*family.Chat, r *Result) {
	dir := f.graph.Folder
	if !dir.HasDir {
		return
	}
	left := map[string]bool{}
	for _, c := range goes {
		for _, book := range booksOf(ctx, f.lib, c.Path) {
			left[book] = true
		}
	}
	if len(left) == 0 {
		return
	}
	going := map[string]bool{}
	for _, c := range goes {
		going[userdir.RealPath(c.Path)] = true
	}
	for _, t := range ops.WalkNames(ops.List{Paths: []string{dir.Dir.Root}, AllowEmpty: true}).Chats {
		if len(left) == 0 {
			return
		}
		if !going[userdir.RealPath(t.Path)] {
			for _, book := range booksOf(ctx, f.lib, t.Path) {
				delete(left, book)
			}
		}
	}
	r.Doc.Unnamed = slices.Sorted(maps.Keys(left))
}

// draftPins updates the chats that are renamed or move in what is pinned on SillyTavern's welcome screen: in
// settings.json, accountStorage.pinnedChats, an object as JSON text, keyed by owner and file
// (welcome-screen.js of 1.19).
func draftPins(n *renameSet) error {
	dir := n.graph.Folder
	if !dir.HasDir {
		return nil
	}
	return editSettings(n.s, n.r, dir.Dir, "pinned chats", "the chats that are pinned", func(old []byte) ([]byte, int, error) {
		edited, count := pinned(n, old)
		return edited, count, nil
	})
}

// pinned returns the settings with the pins renamed, and how many were.
func pinned(n *renameSet, settings []byte) (edited []byte, count int) {
	text, ok := rawjson.Unquote(rawjson.Value(settings, "accountStorage", "pinnedChats"))
	if !ok {
		return settings, 0
	}
	pins := []byte(text)
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
				by = pinOwner{n.elsewhere.Avatar, n.elsewhere.Group}
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
		return settings, 0
	}
	edited, err := rawjson.SetPath(settings, rawjson.Quote(string(pins)), "accountStorage", "pinnedChats")
	if err != nil {
		return settings, 0
	}
	return edited, count
}

// pinOwner is whose chat is pinned: a character, by its avatar, or a group.
type pinOwner struct {
	avatar string
	group  *group.File
}

// key returns the key of the pin of a chat's file.
func (o pinOwner) key(file string) string {
	if o.group != nil {
		return "group_" + o.id() + "_" + file
	}
	return "char_" + o.avatar + "_" + file
}

// id returns a group's id, which is the name of its file.
func (o pinOwner) id() string { return strings.TrimSuffix(filepath.Base(o.group.Path), ".json") }

// pin returns a pin for a chat's file of this owner.
func (o pinOwner) pin(pin []byte, file string) []byte {
	key, name := "avatar", o.avatar
	if o.group != nil {
		key, name = "group", o.id()
	}
	return rawjson.Edit(pin, func(p *rawjson.Object) {
		p.Set("file_name", rawjson.Quote(file))
		if p.Has(key) {
			p.Set(key, rawjson.Quote(name))
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
		return []pinOwner{{avatar: address.AvatarOf(path, f.graph.Folder.Owner)}}
	}
	for _, g := range f.graph.Groups {
		if slices.Contains(c.Groups, g.Path) {
			list = append(list, pinOwner{group: g})
		}
	}
	return list
}

// editSettings drafts an edit of a user's settings.json, if there is one and the edit changes
// it, and notes it in the result as what. edit returns the new content, and how many values
// it changed.
func editSettings(s *changeset.Set, r *Result, dir userdir.Dir, what, why string, edit func(old []byte) ([]byte, int, error)) error {
	path := filepath.Join(dir.Root, "settings.json")
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
	r.Doc.Edits = append(r.Doc.Edits, Edited{path, what, count})
	return s.Edit(path, safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) {
		edited, _, err := edit(old)
		return edited, err
	}), why)
}
