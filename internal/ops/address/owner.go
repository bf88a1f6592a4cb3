package address

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/group"
)

// ErrOwner means that an argument is not an owner of chats.
var ErrOwner = error(&ops.Kind{Code: "refused", Text: "there is no such character or group"})

// Owner is a character or a group.
type Owner struct {
	Dir    userdir.Dir
	Folder string      // of its chats; a character's may not exist yet
	Name   string      // of the character, or the group
	Avatar string      // of a character: the file name of a picture
	Card   string      // of a character, its path; "": there is none
	Group  *group.File // nil: a character
	Part   bool        // found by the beginning of a word of its name
}

// OwnerOf finds the owner that an argument names: a folder in chats/, a card, a group file, or
// by name in the user folder data. The error wraps [ErrOwner] if there is none.
func OwnerOf(lib *library.Library, arg, data string) (*Owner, error) {
	o, err := ownerAt(filepath.Clean(arg), arg)
	if o != nil || IsPath(arg) {
		return o, err
	}
	f := &Finder{Lib: lib, Data: data}
	name := strings.TrimRight(filepath.ToSlash(arg), "/")
	named, nameErr := f.owner(name)
	if named == nil && nameErr == nil {
		f.Whole = true // the error has the whole name
		named, nameErr = f.ownerByPart(name)
	}
	switch {
	case named != nil || nameErr != nil:
		return named, nameErr
	case f.Root() == "":
		return nil, err
	}
	return nil, &NoneError{Arg: arg, Known: f.Owners(), Owner: true}
}

// ownerAt returns the owner at a path.
func ownerAt(path, arg string) (*Owner, error) {
	info, err := os.Stat(path)
	if err != nil {
		if o := withoutFolder(path); o != nil {
			return o, nil
		}
		return nil, fmt.Errorf("%s: %w", arg, ErrOwner)
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
	case parent == userdir.RealPath(dir.Characters()):
		return character(dir, userdir.CharacterFolder(filepath.Base(real)))
	case parent == userdir.RealPath(dir.Groups()) && strings.EqualFold(filepath.Ext(real), ".json"):
		g, err := group.Load(path)
		if err != nil {
			return nil, ops.PathError(err)
		}
		return ofGroup(dir, g), nil
	}
	return nil, fmt.Errorf("%s: %w", arg, ErrOwner)
}

// withoutFolder returns the character whose folder of chats would be at path, if there is no
// such folder but a card; else nil. SillyTavern makes the folder with the first chat.
func withoutFolder(path string) *Owner {
	dir, ok := userdir.Enclosing(filepath.Join(path, "x"+names.Extension))
	if !ok || filepath.Base(filepath.Dir(path)) != filepath.Base(dir.Chats()) {
		return nil
	}
	o, err := character(dir, filepath.Base(path))
	if err != nil || o.Card == "" {
		return nil
	}
	return o
}

// Chats returns what the owner's folder of chats contains. A folder that is not there yet
// contains nothing.
func (o *Owner) Chats(lib *library.Library) (*library.Folder, error) {
	f := lib.Folder(o.Folder)
	if f.Err != nil && !errors.Is(f.Err, fs.ErrNotExist) {
		return nil, f.Err
	}
	return f, nil
}

// Names returns the names of the owner's chats that have a file.
func (o *Owner) Names(lib *library.Library) (list []string) {
	f := lib.Folder(o.Folder)
	if o.Group == nil {
		return f.Chats
	}
	for _, name := range o.Group.Chats {
		if chat, ok := f.Target(name); ok && !slices.Contains(list, chat) {
			list = append(list, chat)
		}
	}
	return list
}

// open returns the name of the chat that the owner opens with, "" if it has none.
func (o *Owner) open() (string, error) {
	if o.Group != nil {
		return o.Group.ChatID, nil
	}
	if o.Card == "" {
		return "", nil
	}
	c, err := card.Open(o.Card)
	if err != nil {
		return "", ops.PathError(err)
	}
	return c.Chat, nil
}

// Open returns the name of the chat that the owner opens with, if that chat is there.
func (o *Owner) Open(lib *library.Library) (chat string, ok bool) {
	name, err := o.open()
	if err != nil || name == "" {
		return "", false
	}
	return lib.Folder(o.Folder).Target(name)
}

func ofGroup(dir userdir.Dir, g *group.File) *Owner {
	return &Owner{Dir: dir, Folder: dir.GroupChats(), Name: g.Name, Group: g}
}

func character(dir userdir.Dir, folder string) (*Owner, error) {
	o := &Owner{Dir: dir, Folder: filepath.Join(dir.Chats(), folder), Name: folder, Avatar: AvatarOf("", folder)}
	path, err := card.Find(dir, folder)
	switch {
	case errors.Is(err, card.ErrMissing):
		return o, nil
	case err != nil:
		return nil, ops.PathError(err)
	}

	o.Card, o.Avatar = path, AvatarOf(path, folder)
	if c, err := card.Open(path); err == nil && c.Name != "" {
		o.Name = c.Name
	}
	return o, nil
}

// AvatarOf returns the avatar of the character with a folder of chats and a card: the file
// name of a picture.
func AvatarOf(card, folder string) string {
	if strings.HasSuffix(card, userdir.CardExtension) {
		return filepath.Base(card)
	}
	return folder + userdir.CardExtension
}
