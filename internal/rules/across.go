package rules

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/group"
	"stchat/internal/lorebook"
	"stchat/internal/userdir"
)

// family is the chats of one folder: those that are checked, and the others,
// of which only the head was read.
type family struct {
	*folder
	chats    []*Chat // all, by name
	checked  []*Chat
	byName   map[string]*Chat
	lookedUp map[*Chat]bool // not checked, but read whole
}

// parent gives the chat that main_chat names, nil where it is not in the folder.
func (f *family) parent(c *Chat) *Chat {
	if c.MainChat == "" {
		return nil
	}
	if p := f.byName[c.MainChat]; p != nil {
		return p
	}
	safe, ok := safeName(c.MainChat)
	if !ok {
		return nil
	}
	return f.byName[safe]
}

// Around says which files beside the chats are judged.
type Around struct {
	// Groups are the user folders of which all group files are judged; of others
	// only those that list a chat that is checked.
	Groups []userdir.Dir
	// Worlds are the user folders of which all lorebooks are judged; of others
	// only those that a checked chat names.
	Worlds []userdir.Dir
}

// Across judges what takes more than one file. chats are those that were
// scanned; their findings grow. It gives the findings about other files. The
// error is that ctx ended, or joins those of group files that cannot be read.
func (k *Checker) Across(ctx context.Context, chats []*Chat, around Around) ([]Finding, error) {
	var families []*family
	byFolder := map[string]*family{}
	for _, c := range chats {
		f := byFolder[c.Folder]
		if f == nil {
			f = &family{folder: k.folder(c.Folder), byName: map[string]*Chat{}, lookedUp: map[*Chat]bool{}}
			byFolder[c.Folder] = f
			families = append(families, f)
		}
		f.chats = append(f.chats, c)
		f.checked = append(f.checked, c)
		f.byName[c.Name] = c
	}
	for _, f := range families {
		if err := k.family(ctx, f); err != nil {
			return nil, err
		}
	}
	k.sharedBooks(families)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	other, err := k.groupFiles(chats, around)
	return append(other, k.bookFiles(chats, around)...), err
}

// family judges the chats of one folder.
func (k *Checker) family(ctx context.Context, f *family) error {
	if err := k.lookUp(ctx, f); err != nil {
		return err
	}
	for _, c := range f.checked {
		k.noHeader(c)
		k.groupChat(f, c)
		k.ownLinks(c)
		k.ownBook(c)
		k.recapOwner(c)
		k.lukerFiles(c)
	}
	k.identity(f)
	return k.parents(ctx, f)
}

// lookUp reads what the rules need of chats of the folder that are not checked:
// the head of each, and the parents of those that are checked whole.
func (k *Checker) lookUp(ctx context.Context, f *family) error {
	for _, name := range f.names {
		if f.byName[name] != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c := k.newChat(filepath.Join(f.path, name+".jsonl"))
		if k.readHead(ctx, c) != nil {
			continue // whoever checks that chat is told
		}
		f.chats = append(f.chats, c)
		f.byName[name] = c
	}
	slices.SortFunc(f.chats, func(a, b *Chat) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range f.checked {
		p := f.parent(c)
		if p == nil || p.checked || f.lookedUp[p] {
			continue
		}
		whole := k.newChat(p.Path)
		if k.read(ctx, whole, ScanOptions{}) == nil {
			*p = *whole
			f.lookedUp[p] = true
		}
	}
	return ctx.Err()
}

// groupFiles judges group files. The error joins those of files that cannot be
// read.
func (k *Checker) groupFiles(chats []*Chat, around Around) (out []Finding, err error) {
	var errs []error
	done := map[string]bool{}
	judge := func(file *group.File, dir userdir.Dir) {
		if !done[file.Path] {
			done[file.Path] = true
			out = append(out, k.groupFile(file, dir)...)
		}
	}
	dirs := map[string]bool{}
	known := func(dir userdir.Dir) *groups {
		g := k.groups(dir)
		if !dirs[dir.Root] {
			dirs[dir.Root] = true
			if g.err != nil {
				errs = append(errs, g.err)
			} else {
				errs = append(errs, g.set.Bad...)
			}
		}
		return g
	}
	for _, dir := range around.Groups {
		if g := known(dir); g.err == nil {
			for _, file := range g.set.Files {
				judge(file, dir)
			}
		}
	}
	for _, c := range chats {
		if c.Kind == userdir.Group && c.HasDir {
			known(c.Dir)
		}
		for _, file := range k.listing(c) {
			judge(file, c.Dir)
		}
	}
	return out, errors.Join(errs...)
}

// bookFiles judges lorebooks.
func (k *Checker) bookFiles(chats []*Chat, around Around) []Finding {
	var out []Finding
	done := map[string]bool{}
	judge := func(b *book, used bool) {
		if b.path != "" && !done[b.path] {
			done[b.path] = true
			out = append(out, bookFile(b, used)...)
		}
	}
	for _, c := range chats {
		if c.HasDir && c.Lorebook != "" {
			judge(k.book(c.Dir, c.Lorebook), true)
		}
	}
	for _, dir := range around.Worlds {
		for _, name := range listBooks(dir.Worlds()) {
			judge(k.book(dir, name), false)
		}
	}
	return out
}

// listBooks gives the names of the lorebooks in a worlds folder; one that cannot
// be read has none.
func listBooks(worlds string) []string {
	entries, _ := os.ReadDir(worlds)
	var list []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), lorebook.Extension); ok && name != "" && !e.IsDir() {
			list = append(list, name)
		}
	}
	return list
}
