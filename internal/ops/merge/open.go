package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/change/safefile"
	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
	"stchat/internal/sillytavern/message"
)

var (
	// ErrKinds means that a character's chat and a group's were to become one.
	ErrKinds = error(&ops.Kind{Code: "refused", Text: "one is a character's, the other a group's"})
	// ErrNoOwner means that a folder of a user folder is no character's.
	ErrNoOwner = error(&ops.Kind{Code: "refused", Text: "does not hold the chats of a character; name a folder in chats, or the user folder"})
	// ErrGroup means that a folder holds the chats of all groups.
	ErrGroup = error(&ops.Kind{Code: "refused", Text: "holds the chats of all groups; name a group's file, or the user folder"})
	// ErrBase means that something is not the same kind of thing as INTO and FROM, or not apart from them.
	ErrBase = error(&ops.Kind{Code: "refused", Text: "cannot be the base of this merge"})
)

// sides are the chats that are merged.
type sides struct {
	into, from chats
	base       chats // what both came from; without a folder: unknown
	single     bool  // a chat goes into a chat, whatever both are called
}

// openSides finds the chats of INTO, of FROM and, if it is given, of the base. It refuses what cannot become one.
func (opt *Options) openSides(ctx context.Context, lib *library.Library) (*sides, error) {
	s := &sides{single: userdir.HasExtension(opt.Into)}
	for _, side := range []struct {
		path  string
		chats *chats
	}{{opt.Into, &s.into}, {opt.From, &s.from}, {opt.Base, &s.base}} {
		if side.path == "" {
			continue
		}
		found, err := chatsOf(ctx, lib, side.path, s.single)
		if err == nil && found.folder.HasDir {
			err = ops.InFiles(lib, found.folder.Dir, found.folder.Path)
		}
		if err != nil {
			return nil, err
		}
		*side.chats = found
		if !sameKind(s.into.folder, found.folder) {
			return nil, fmt.Errorf("%s: %w", side.path, ErrKinds)
		}
	}

	if s.into.misnamed != "" {
		return nil, ops.PathError(chat.CheckName(s.into.misnamed))
	}
	if opt.Base == "" {
		return s, nil
	}
	return s, s.judgeBase(opt.Base)
}

// judgeBase refuses a base that cannot be what both sides came from.
func (s *sides) judgeBase(path string) error {
	switch {
	case s.base.misnamed != "":
		return fmt.Errorf("%s: %w: its name does not end in %s", path, ErrBase, names.Extension)
	case s.base.only != "" && s.from.only == "":
		return fmt.Errorf("%s: %w: FROM is more than a chat", path, ErrBase)
	case len(s.base.folder.Chats) == 0:
		return fmt.Errorf("%s: %w: it has no chat", path, ErrBase)
	}
	return nil
}

// sameKind reports whether two folders may hold chats of one owner: not a character's and a group's.
func sameKind(a, b *library.Folder) bool {
	isKnown := a.Kind != userdir.File && b.Kind != userdir.File
	return !isKnown || a.Kind == b.Kind
}

// chats are those that a path means.
type chats struct {
	folder *library.Folder
	only   string      // the one chat; "": all
	group  *group.File // that lists them; nil: none

	misnamed string // the path of the one chat, if its name does not end as a chat's: the folder does not list it
}

func (c *chats) has(name string) bool {
	return (c.only == "" || c.only == name) && (c.group == nil || c.group.Lists(name))
}

// chatsOf returns the chats of a folder, an owner, or the single one in a file.
func chatsOf(ctx context.Context, lib *library.Library, path string, single bool) (chats, error) {
	info, err := os.Stat(path)
	isFile := err == nil && info.Mode().IsRegular()
	if isFile && single && !userdir.HasExtension(path) {
		return misnamed(ctx, lib, path, chat.Refuse(path))
	}
	if single || userdir.HasExtension(path) {
		folder := lib.Folder(filepath.Dir(path))
		name := userdir.ChatName(path)
		if !folder.Has(name) || filepath.Base(folder.File(name)) != filepath.Base(path) {
			return chats{}, ops.PathError(cmp.Or(folder.Err, chat.Refuse(path)))
		}
		return chats{folder: folder, only: name, group: listing(lib, folder, name)}, nil
	}

	if userdir.IsDir(path) {
		var err error
		f := lib.Folder(path)
		_, inUser := userdir.Enclosing(filepath.Join(path, "x"+names.Extension))
		switch {
		case f.Kind == userdir.Group:
			err = fmt.Errorf("%s: %w", path, ErrGroup)
		case f.Kind == userdir.File && (inUser || userdir.IsPart(path) && len(f.Chats) == 0):
			err = fmt.Errorf("%s: %w", path, ErrNoOwner)
		}
		return chats{folder: f}, err
	}

	o, err := address.OwnerOf(lib, path, "")
	if err != nil && isFile {
		return misnamed(ctx, lib, path, err)
	}
	if err != nil {
		return chats{}, err
	}
	return chats{folder: lib.Folder(o.Folder), group: o.Group}, nil
}

// misnamed returns a chat in a file whose name does not end as a chat's, which its content shows to be one: browsers on
// phones save "X.jsonl" as "X.jsonl.txt", or as "X.json". The error is otherwise if it is none.
func misnamed(ctx context.Context, lib *library.Library, path string, otherwise error) (chats, error) {
	c, err := chat.Open(ctx, path, chat.Options{AnyName: true})
	if err != nil {
		return chats{}, ops.PathError(err)
	}
	defer c.Close()
	isText := c.Header == nil && c.Body == c.Source.Size // no line of it is an object
	if isText {
		return chats{}, otherwise
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if userdir.HasExtension(name) {
		name = userdir.ChatName(name)
	}
	return chats{folder: lib.Folder(filepath.Dir(path)), only: name, misnamed: path}, nil
}

// listing returns the group that lists a chat of a folder; nil: none does.
func listing(lib *library.Library, folder *library.Folder, name string) *group.File {
	set, err := lib.Groups(folder.Dir)
	if err != nil || folder.Kind != userdir.Group || len(set.Listing(name)) == 0 {
		return nil
	}
	return set.Listing(name)[0]
}

func everything(string) bool { return true }

// open lists the chats of both sides. Of a single chat of INTO all others in its folder may be a copy, too.
func (s *sides) open(opt *Options, lib *library.Library) (*owner, error) {
	isOurs := s.into.has
	if s.single {
		isOurs = everything
	}
	o, err := opt.openOwner(lib, s.into.folder.Path, s.from.folder.Path, s.base, isOurs, s.from.has)
	if err != nil {
		return nil, err
	}
	o.group = s.into.group
	o.noteNames()
	if s.from.misnamed != "" {
		o.theirs.files = []*file{{lib: lib, name: s.from.only, key: names.FoldNFC(s.from.only), path: s.from.misnamed, isMisnamed: true}}
	}
	return o, nil
}

// openOwner lists the chats in two folders that are an owner's on both sides, and those of the base, which may have no folder.
func (opt *Options) openOwner(lib *library.Library, into, from string, base chats, isOurs, isTheirs func(name string) bool) (o *owner, err error) {
	o = &owner{
		opt:      opt,
		label:    cmp.Or(opt.label, label(into, from)),
		inFolder: newInFolder(),
		given:    map[string]bool{},
		seed:     message.NewSeed(),
	}

	o.ours, err = openSide(lib, into, isOurs)
	if err != nil {
		return nil, err
	}
	o.theirs, err = openSide(lib, from, isTheirs)
	if err != nil {
		return nil, err
	}
	o.theirs.addLinks(isTheirs)
	if base.folder == nil {
		return o, nil
	}
	o.base, err = openSide(lib, base.folder.Path, base.has)
	return o, err
}

// noteNames notes the names that are taken in INTO: those of its chats, and those that other groups list there. A name that
// the owner's own group lists may come back to it.
func (o *owner) noteNames() {
	o.taken = o.ours.keys()
	o.coming = o.theirs.keys()
	groups, err := o.ours.lib.Groups(o.ours.folder.Dir)
	if err != nil || o.ours.folder.Kind != userdir.Group {
		return
	}
	for _, g := range groups.Files {
		if o.group != nil && filepath.Base(g.Path) == filepath.Base(o.group.Path) {
			continue
		}
		for _, name := range g.Chats {
			o.taken[names.FoldNFC(name)] = true
		}
	}
}

// side is the chats of one owner on one side.
type side struct {
	lib    *library.Library
	folder *library.Folder
	files  []*file
}

// openSide lists the chats of a folder that are wanted. A folder of a user folder may be missing: the first chat makes it.
func openSide(lib *library.Library, folder string, wanted func(name string) bool) (*side, error) {
	s := &side{lib: lib, folder: lib.Folder(folder)}
	if err := s.folder.Err; err != nil {
		mayBeMissing := s.folder.HasDir && errors.Is(err, fs.ErrNotExist)
		if !mayBeMissing {
			return nil, ops.PathError(err)
		}
	}

	for _, name := range s.folder.Chats {
		if wanted(name) {
			s.files = append(s.files, &file{lib: lib, name: name, key: names.FoldNFC(name), path: s.folder.File(name), sidecars: s.folder.Sidecars(name)})
		}
	}
	return s, nil
}

// addLinks lists the links that are called as chats, which are wanted and not read.
func (s *side) addLinks(wanted func(name string) bool) {
	entries, _ := safefile.ReadDir(s.folder.Path) // it was listed before
	for _, e := range entries {
		name := userdir.ChatName(e.Name())
		path := filepath.Join(s.folder.Path, e.Name())
		if !userdir.HasExtension(e.Name()) || s.folder.Has(name) || !wanted(name) {
			continue
		}
		if err := followed(path); err != nil {
			s.files = append(s.files, &file{lib: s.lib, name: name, key: names.FoldNFC(name), path: path, err: err})
		}
	}
}

// keys returns the names of all chats in the folder, as they are compared.
func (s *side) keys() map[string]bool {
	keys := make(map[string]bool, len(s.folder.Chats))
	for _, name := range s.folder.Chats {
		keys[names.FoldNFC(name)] = true
	}
	return keys
}
