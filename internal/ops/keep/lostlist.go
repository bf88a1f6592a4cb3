package keep

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/history/lost"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/group"
)

// list finds the chats of the root, and the versions outside the history that are not too old.
func (f *finder) list(ctx context.Context, copies []ops.Target) {
	walked := ops.Walk(ops.List{Paths: []string{f.root.Path}, AllowEmpty: true})
	f.errs = append(f.errs, walked.Errors()...)
	for _, t := range walked.Chats {
		if f.root.User || filepath.Dir(t.Path) == filepath.Clean(f.root.Path) {
			f.addChat(t.Path, t.Path, isLive)
		}
	}

	folders := []string{f.root.Path}
	if f.root.User {
		f.listBackups(userdir.Dir{Root: f.root.Path})
		folders = userdir.Dir{Root: f.root.Path}.Folders()
	}
	n := len(f.versions)
	for _, folder := range folders {
		f.listOld(folder)
	}
	f.source(LostInOld, f.root.Path, n)
	n = len(f.versions)
	f.listKept()
	f.source(LostInUndo, filepath.Join(f.root.Path, userdir.Own), n)
	from := map[string]int{}
	for _, t := range copies {
		from[cmp.Or(t.From, t.Path)]++
		f.addCopy(t.Path)
	}

	for _, folder := range slices.Sorted(maps.Keys(from)) {
		f.sources = append(f.sources, LostSource{LostInCopies, folder, from[folder]})
	}

	keys, areOnly := f.onlyKeys(ctx)
	f.versions = slices.DeleteFunc(f.versions, func(v *lostVersion) bool {
		isOther := areOnly && v.chat == "" && !slices.Contains(keys, v.key)
		return isOther || v.at.Before(f.opt.Since)
	})
}

// source notes a source of the versions from the n-th on, if there are any.
func (f *finder) source(kind, path string, n int) {
	if n < len(f.versions) {
		f.sources = append(f.sources, LostSource{kind, path, len(f.versions) - n})
	}
}

func (f *finder) addChat(path, read string, became fate) {
	c := &lostChat{path: path, read: read, fate: became, of: ownerOf(path), said: new(lost.Version)} // of one that cannot be read
	if info, err := os.Stat(read); err == nil {
		c.changed = info.ModTime()
	}
	f.chats = append(f.chats, c)
}

// ownerOf returns the owner of a chat's backups, without the group's name.
func ownerOf(path string) backups.Owner {
	kind, name := userdir.KindOf(path)
	if kind == userdir.Group {
		name = userdir.ChatName(path)
	}
	return backups.Owner{Kind: kind, Name: name}
}

// listBackups finds SillyTavern's own backups.
func (f *finder) listBackups(dir userdir.Dir) {
	var err error
	f.folder, err = backups.Read(dir)
	f.fail(err)
	f.groups, err = group.LoadAll(dir.Groups())
	f.fail(err)
	f.owners = backups.FindOwners(dir, f.groups)
	f.firsts = map[string]time.Time{}
	for _, b := range slices.Backward(f.folder.Backups) {
		f.firsts[b.Key] = b.At
	}
	for _, b := range f.folder.Backups {
		f.versions = append(f.versions, &lostVersion{path: b.Path, at: b.At, key: b.Key})
	}
	f.source(LostInBackups, f.folder.Path, 0)
}

// isOfGroup reports whether a version may be of a group's chat: by its path, by its key, or since
// nobody is known any more whose backups have that.
func (f *finder) isOfGroup(v *lostVersion) bool {
	if v.chat != "" {
		kind, _ := userdir.KindOf(v.chat)
		return kind == userdir.Group
	}
	isCharacter := func(o backups.Owner) bool { return o.Kind != userdir.Group }
	return !slices.ContainsFunc(f.owners[v.key], isCharacter)
}

// oldMark stands between a file's name and the time in the names of the copies that earlier
// versions of this program kept.
const oldMark = ".bak-"

// listOld finds the copies that earlier versions of this program kept beside the chats.
func (f *finder) listOld(folder string) {
	entries, _ := os.ReadDir(folder) // a folder that cannot be read is in errs already
	for _, e := range entries {
		name, _, ok := strings.Cut(e.Name(), oldMark)
		if info, err := e.Info(); ok && err == nil && e.Type().IsRegular() && userdir.HasExtension(name) {
			f.versions = append(f.versions, &lostVersion{path: filepath.Join(folder, e.Name()), at: info.ModTime(), chat: filepath.Join(folder, name)})
		}
	}
}

// listKept finds what undo keeps. A chat that was deleted on purpose is not a version: other
// versions of it are not lost either.
func (f *finder) listKept() {
	kept, errs, err := changeset.KeptFiles(f.root.Path)
	for _, err := range append(errs, err) {
		f.fail(err)
	}
	for _, k := range kept {
		kind, _ := userdir.KindOf(k.Path)
		switch {
		case !userdir.HasExtension(k.Path) || f.root.User && kind == userdir.File:
		case isDeletion(&k):
			f.addChat(k.Path, k.File, wasDeleted)
		default:
			f.versions = append(f.versions, &lostVersion{path: k.File, at: k.Time, chat: k.Path, restored: k.Gone})
		}
	}
}

// isDeletion reports whether undo keeps a file since it was deleted on purpose. What was gone before it
// was brought back, and that was taken back, was not.
func isDeletion(k *changeset.KeptFile) bool {
	restored := slices.Contains(k.Undid, "restore") || slices.Contains(k.Undid, "--restore")
	return k.Gone && !restored
}

// deletion is a chat that was deleted on purpose.
type deletion struct {
	path string
	said *lost.Version
}

// is reports whether it was the chat that is gone from a path, by what that said last.
func (d *deletion) is(path string, last *lost.Version) bool {
	shared := func() int { return lost.NewSet(last.Texts).Shared(d.said.Texts) }
	sameSlug := d.said.Slug != "" && d.said.Slug == last.Slug
	if userdir.RealPath(d.path) == userdir.RealPath(path) {
		nothingIsKnown := d.said.Slug == "" && last.Slug == "" && len(d.said.Texts) == 0 && len(last.Texts) == 0
		return sameSlug || nothingIsKnown || shared() > 0
	}
	if !sameSlug || len(last.Texts) == 0 {
		return false
	}
	return shared() == len(last.Texts)
}

// addCopy adds a file in a folder with copies as a version: a backup, or else of the chat of
// the same name and owner.
func (f *finder) addCopy(path string) {
	info, err := os.Stat(path)
	if err != nil {
		return // it no longer exists
	}
	v := &lostVersion{path: path, at: info.ModTime(), copied: true}
	key, at, dated := backups.Parse(filepath.Base(path), time.Local)
	v.key = key
	if dated {
		v.at = at
	}
	if key == "" {
		dir := userdir.Dir{Root: f.root.Path}
		switch kind, owner := userdir.KindOf(path); {
		case !f.root.User:
			v.chat = filepath.Join(f.root.Path, filepath.Base(path))
		case kind == userdir.Group:
			v.chat = filepath.Join(dir.GroupChats(), filepath.Base(path))
		case kind == userdir.Solo:
			v.chat = filepath.Join(dir.Chats(), owner, filepath.Base(path))
		}
	}

	f.versions = append(f.versions, v)
}

// unknownChat returns the unknown chat that a version is of, with its owner as far as that is known, and
// its path as for a group: its backups are named for the chat. ambiguous means that the owner may
// be another.
func (f *finder) unknownChat(v *lostVersion) (chat *lostChat, ambiguous bool) {
	chat = &lostChat{path: v.chat, fate: isUnknown, said: v.said}
	owners := f.owners[v.key]
	switch {
	case v.chat != "":
		chat.of = ownerOf(v.chat)
	case v.key != "" && len(owners) > 0:
		if chat.of = owners[0]; chat.of.Kind == userdir.Group {
			chat.path = filepath.Join(userdir.Dir{Root: f.root.Path}.GroupChats(), chat.of.Name+names.Extension)
		}
		ambiguous = len(owners) > 1
	}
	return chat, ambiguous
}

// placeFor returns a path to restore a chat to if its name is not known: of a character's chat
// backups do not have it, and of a group's they nearly do. It is "" if the owner is not known either.
func (f *finder) placeFor(ctx context.Context, owner backups.Owner, v *lostVersion) string {
	if owner.Name == "" {
		cast, err := (&subject{present: f.now}).cast(ctx, v.version())
		if v.key == "" || err != nil || len(cast) == 0 {
			return ""
		}
		return filepath.Join(userdir.Dir{Root: f.root.Path}.GroupChats(), backups.GroupChat(v.key)+names.Extension)
	}
	name := owner.Name + " - " + v.at.Local().Format("2006-01-02@15h04m05s")
	return filepath.Join(userdir.Dir{Root: f.root.Path}.Chats(), owner.Name, name+names.Extension)
}

// shownOwner returns an owner's name for people: for a group chat the group's name.
func (f *finder) shownOwner(o backups.Owner) string {
	if o.Kind != userdir.Group {
		return o.Name
	}
	if o.Group == "" && f.groups != nil {
		for _, g := range f.groups.Listing(o.Name) {
			return g.Name
		}
	}
	return o.Group
}
