package move

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/card"
	"stchat/internal/group"
	"stchat/internal/library"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// ErrOwner means that an argument is not an owner of chats.
var ErrOwner = error(&ops.Kind{Code: "refused", Text: "is neither a folder of chats, nor a card, nor a group"})

// owner is a character or a group.
type owner struct {
	dir    userdir.Dir
	folder string      // of its chats; a character's may not exist yet
	name   string      // of the character, or the group
	avatar string      // of a character
	group  *group.File // nil: a character
}

// ownerOf finds the owner that an argument names: a folder in chats/, a card, a group file,
// or the name of a group. The error wraps [ErrOwner] if there is none.
func ownerOf(lib *library.Library, arg, data string) (*owner, error) {
	path := filepath.Clean(arg)
	info, err := os.Stat(path)
	if err != nil {
		if o := withoutFolder(path); o != nil {
			return o, nil
		}
		return groupNamed(lib, arg, data)
	}
	inside := path
	if info.IsDir() {
		inside = filepath.Join(path, "x"+names.Extension) // a chat that it could contain
	}
	dir, ok := userdir.Enclosing(inside)
	if !ok {
		return nil, fmt.Errorf("%s: %w: it is not in a SillyTavern user folder", arg, ErrOwner)
	}
	real := userdir.RealPath(path)
	parent := filepath.Dir(real)
	switch {
	case info.IsDir() && parent == userdir.RealPath(dir.Chats()):
		return character(dir, filepath.Base(real))
	case info.IsDir():
		return nil, fmt.Errorf("%s: %w", arg, ErrOwner)
	case parent == userdir.RealPath(dir.Characters()):
		folder, ok := strings.CutSuffix(filepath.Base(real), ".json")
		if !ok {
			folder = userdir.CharacterFolder(filepath.Base(real))
		}
		return character(dir, folder)
	case parent == userdir.RealPath(dir.Groups()) && strings.EqualFold(filepath.Ext(real), ".json"):
		g, err := group.Load(path)
		if err != nil {
			return nil, ops.PathError(err)
		}
		return &owner{dir: dir, folder: dir.GroupChats(), name: g.Name, group: g}, nil
	}
	return nil, fmt.Errorf("%s: %w", arg, ErrOwner)
}

// withoutFolder returns the character whose folder of chats would be at path, if there is no
// such folder but a card; else nil. SillyTavern makes the folder with the first chat.
func withoutFolder(path string) *owner {
	dir, ok := userdir.Enclosing(filepath.Join(path, "x"+names.Extension))
	if !ok || filepath.Base(filepath.Dir(path)) != filepath.Base(dir.Chats()) {
		return nil
	}
	if _, err := card.Find(dir, filepath.Base(path)); err != nil {
		return nil
	}
	o, err := character(dir, filepath.Base(path))
	if err != nil {
		return nil
	}
	return o
}

// chats returns what the owner's folder of chats contains. A folder that is not there yet
// contains nothing.
func (o *owner) chats(lib *library.Library) (*library.Folder, error) {
	f := lib.Folder(o.folder)
	if f.Err != nil && (o.group != nil || !errors.Is(f.Err, fs.ErrNotExist)) {
		return nil, f.Err
	}
	return f, nil
}

func character(dir userdir.Dir, folder string) (*owner, error) {
	o := &owner{dir: dir, folder: filepath.Join(dir.Chats(), folder), name: folder, avatar: avatarOf("", folder)}
	path, err := card.Find(dir, folder)
	switch {
	case errors.Is(err, card.ErrMissing):
		return o, nil
	case err != nil:
		return nil, ops.PathError(err)
	}
	o.avatar = avatarOf(path, folder)
	if c, err := card.Open(path); err == nil && c.Name != "" {
		o.name = c.Name
	}
	return o, nil
}

// groupNamed finds the only group of a name in the user folder data, or in the one around
// the working folder if data is empty.
func groupNamed(lib *library.Library, name, data string) (*owner, error) {
	around, ok := userdir.Around(".")
	ok = ok && userdir.IsUserDir(around)
	dir := userdir.Dir{Root: userdir.Near(around)}
	if data != "" {
		d, err := userdir.Open(data)
		if err != nil {
			return nil, err
		}
		dir, ok = d, true
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, ErrOwner)
	}
	set, err := lib.In(dir)
	if err != nil {
		return nil, ops.PathError(err)
	}
	var found *owner
	for _, g := range set.Files {
		if g.Name != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s: two groups have this name: %s and %s; give the file", name, found.group.Path, g.Path)
		}
		found = &owner{dir: dir, folder: dir.GroupChats(), name: g.Name, group: g}
	}
	if found == nil {
		return nil, fmt.Errorf("%s: %w", name, ErrOwner)
	}
	return found, nil
}
