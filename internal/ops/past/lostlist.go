package past

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/backups"
	"stchat/internal/changeset"
	"stchat/internal/group"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// list finds the live chats of the root and the older versions.
func (f *finder) list(copies []ops.Target) {
	walked := ops.Walk(ops.List{Paths: []string{f.root.path}, AllowEmpty: true})
	for _, err := range walked.Errs {
		f.errs = append(f.errs, err)
	}
	for _, t := range walked.Chats {
		if f.root.user || filepath.Dir(t.Path) == filepath.Clean(f.root.path) {
			f.addChat(t.Path, t.Path, false)
		}
	}
	f.folder = &backups.Folder{}
	folders := []string{f.root.path}
	if f.root.user {
		f.listBackups(userdir.Dir{Root: f.root.path})
		folders = userdir.Dir{Root: f.root.path}.Folders()
	}
	for _, folder := range folders {
		f.listOld(folder)
	}
	f.listKept()
	for _, t := range copies {
		f.addCopy(t.Path)
	}
	f.versions = slices.DeleteFunc(f.versions, func(v *lostVersion) bool { return v.at.Before(f.opt.Since) })
}

func (f *finder) addChat(path, read string, deleted bool) {
	c := &lostChat{path: path, read: read, deleted: deleted, of: ownerOf(path)}
	if info, err := os.Stat(read); err == nil {
		c.changed = info.ModTime()
	}
	f.chats = append(f.chats, c)
}

// ownerOf returns whose backups those of a chat are, without the group's name.
func ownerOf(path string) backups.Owner {
	kind, name := userdir.KindOf(path)
	if kind == userdir.Group {
		name = userdir.ChatName(path)
	}
	return backups.Owner{Kind: kind, Name: name}
}

// listBackups finds SillyTavern's own backups.
func (f *finder) listBackups(dir userdir.Dir) {
	folder, err := backups.Read(dir)
	if err != nil {
		f.errs = append(f.errs, ops.PathError(err))
	}
	f.folder = folder
	if f.groups, err = group.LoadAll(dir.Groups()); err != nil {
		f.errs = append(f.errs, ops.PathError(err))
	}
	f.owners = backups.FindOwners(dir, f.groups)
	for _, b := range folder.Backups {
		f.versions = append(f.versions, &lostVersion{path: b.Path, at: b.At, key: b.Key})
	}
}

// oldMark is what earlier versions of this program put between a file's name and the
// time when they kept it.
const oldMark = ".bak-"

// listOld finds what earlier versions of this program kept beside the chats.
func (f *finder) listOld(folder string) {
	entries, _ := os.ReadDir(folder) // one that cannot be read was told of already
	for _, e := range entries {
		name, _, ok := strings.Cut(e.Name(), oldMark)
		if info, err := e.Info(); ok && err == nil && e.Type().IsRegular() && userdir.HasExtension(name) {
			f.versions = append(f.versions, &lostVersion{path: filepath.Join(folder, e.Name()), at: info.ModTime(), chat: filepath.Join(folder, name)})
		}
	}
}

// listKept finds what undo keeps. A chat that was deleted on purpose is no version: what
// is left of it elsewhere is not lost either.
func (f *finder) listKept() {
	kept, errs, err := changeset.KeptFiles(f.root.path)
	if err != nil {
		errs = append(errs, err)
	}
	for _, err := range errs {
		f.errs = append(f.errs, ops.PathError(err))
	}
	for _, k := range kept {
		kind, _ := userdir.KindOf(k.Path)
		switch {
		case !userdir.HasExtension(k.Path) || f.root.user && kind == userdir.File:
		case k.Gone:
			f.addChat(k.Path, k.File, true)
		default:
			f.versions = append(f.versions, &lostVersion{path: k.File, at: k.Time, chat: k.Path})
		}
	}
}

// addCopy adds a file of a folder with copies: a backup, or else a chat of the same name
// in a folder of the same name.
func (f *finder) addCopy(path string) {
	info, err := os.Stat(path)
	if err != nil {
		return // reading it would say why, if it were still there
	}
	v := &lostVersion{path: path, at: info.ModTime()}
	key, at, dated := backups.Parse(filepath.Base(path), time.Local)
	if v.key = key; dated {
		v.at = at
	}
	if key == "" {
		dir := userdir.Dir{Root: f.root.path}
		switch kind, owner := userdir.KindOf(path); {
		case !f.root.user:
			v.chat = filepath.Join(f.root.path, filepath.Base(path))
		case kind == userdir.Group:
			v.chat = filepath.Join(dir.GroupChats(), filepath.Base(path))
		case kind == userdir.Solo:
			v.chat = filepath.Join(dir.Chats(), owner, filepath.Base(path))
		}
	}
	f.versions = append(f.versions, v)
}
