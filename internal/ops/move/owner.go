package move

import (
	"errors"
	"fmt"
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
var ErrOwner = errors.New("is neither a folder of chats, nor a card, nor a group")

// owner is a character or a group.
type owner struct {
	dir    userdir.Dir
	folder string      // of its chats
	name   string      // of the character, or the group
	group  *group.File // nil: a character
}

// ownerOf finds the owner that an argument names: a folder in chats/, a card, a group file,
// or the name of a group. The error wraps [ErrOwner] if there is none.
func ownerOf(lib *library.Library, arg, data string) (*owner, error) {
	path := filepath.Clean(arg)
	info, err := os.Stat(path)
	if err != nil {
		return groupNamed(lib, arg, data)
	}
	inside := path
	if info.IsDir() {
		inside = filepath.Join(path, "x"+names.Extension) // a chat that it could contain
	}
	dir, ok := userdir.Enclosing(inside)
	if !ok {
		return nil, fmt.Errorf("%s: %w: it is in no SillyTavern user folder", arg, ErrOwner)
	}
	real := userdir.RealPath(path)
	parent := filepath.Dir(real)
	stem := strings.TrimSuffix(filepath.Base(real), filepath.Ext(real))
	switch {
	case info.IsDir() && parent == userdir.RealPath(dir.Chats()):
		return character(dir, filepath.Base(real))
	case info.IsDir():
		return nil, fmt.Errorf("%s: %w", arg, ErrOwner)
	case parent == userdir.RealPath(dir.Characters()):
		return character(dir, stem)
	case parent == userdir.RealPath(dir.Groups()) && strings.EqualFold(filepath.Ext(real), ".json"):
		g, err := group.Load(path)
		if err != nil {
			return nil, ops.PathError(err)
		}
		return &owner{dir: dir, folder: dir.GroupChats(), name: g.Name, group: g}, nil
	}
	return nil, fmt.Errorf("%s: %w", arg, ErrOwner)
}

func character(dir userdir.Dir, folder string) (*owner, error) {
	o := &owner{dir: dir, folder: filepath.Join(dir.Chats(), folder), name: folder}
	path, err := card.Find(dir, folder)
	switch {
	case errors.Is(err, card.ErrMissing):
		return o, nil
	case err != nil:
		return nil, ops.PathError(err)
	}
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
