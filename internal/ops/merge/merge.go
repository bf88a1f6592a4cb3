package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/chat"
	"stchat/internal/group"
	"stchat/internal/library"
	"stchat/internal/message"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/userdir"
)

var (
	// ErrSame means that INTO and FROM are one, or one is inside the other.
	ErrSame = error(&ops.Kind{Code: "refused", Text: "INTO and FROM are the same, or one lies inside the other"})
	// ErrKinds means that a character's chat and a group's were to become one.
	ErrKinds = error(&ops.Kind{Code: "refused", Text: "one is a character's, the other a group's"})
	// ErrNoOwner means that a folder of a user folder is no character's.
	ErrNoOwner = error(&ops.Kind{Code: "refused", Text: "does not hold the chats of a character; name a folder in chats, or the user folder"})
	// ErrGroup means that a folder holds the chats of all groups.
	ErrGroup = error(&ops.Kind{Code: "refused", Text: "holds the chats of all groups; name a group's file, or the user folder"})
)

// folder merges the chats of a folder, or of one owner, into another one's; one chat into another,
// whatever both are called.
func (r *Result) folder(ctx context.Context, opt *Options) error {
	lib, single := new(library.Library), userdir.HasExtension(opt.Into)
	here, err := chatsOf(lib, opt.Into, single)
	there, errThere := chatsOf(lib, opt.From, single)
	if err := cmp.Or(err, errThere); err != nil {
		return err
	}
	if a, b := here.folder.Kind, there.folder.Kind; a != userdir.File && b != userdir.File && a != b {
		return fmt.Errorf("%s: %w", opt.From, ErrKinds)
	}
	for _, f := range []*library.Folder{here.folder, there.folder} {
		if f.HasDir {
			if err := ops.InFiles(lib, f.Dir, f.Path); err != nil {
				return err
			}
		}
	}
	o, err := opt.owner(lib, here.folder.Path, there.folder.Path, opt.Base,
		func(name string) bool { return single || here.has(name) },
		func(name string) bool { return there.has(name) && (single || opt.wanted(name+names.Extension)) })
	if err != nil {
		return err
	}
	if o.group = here.group; single {
		err = o.mergeOne(ctx)
	} else {
		err = o.mergeAll(ctx)
	}
	if err == nil {
		finish(ctx, o)
		r.run(ctx, opt, "", nil, o.jobs())
	}
	return err
}

// mergeOne merges a chat that the options name into the other one.
func (o *owner) mergeOne(ctx context.Context) error {
	p, err := o.ours.at(o.opt.Into)
	if err != nil {
		return err
	}
	c, err := o.theirs.at(o.opt.From)
	if err != nil {
		return err
	}
	o.group = o.ours.listing(p.name)
	return o.mergePair(ctx, c, p)
}

// chats are those that a path means.
type chats struct {
	folder *library.Folder
	only   string      // the one chat; "": all
	group  *group.File // those it lists; nil: all
}

// chatsOf returns the chats of a folder, an owner, or the single one in a file.
func chatsOf(lib *library.Library, path string, single bool) (chats, error) {
	if single || userdir.HasExtension(path) {
		return chats{folder: lib.Folder(filepath.Dir(path)), only: userdir.ChatName(path)}, nil
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
	if err != nil {
		return chats{}, err
	}
	return chats{folder: lib.Folder(o.Folder), group: o.Group}, nil
}

func (c *chats) has(name string) bool {
	return (c.only == "" || c.only == name) && (c.group == nil || c.group.Lists(name))
}

func everything(string) bool { return true }

// owner opens two folders with the chats of both that are wanted, and what both came from; "": unknown.
func (opt *Options) owner(lib *library.Library, into, from, base string, here, there func(name string) bool) (*owner, error) {
	o := &owner{opt: opt, label: cmp.Or(opt.Label, label(into, from)), inFolder: newInFolder(), given: map[string]bool{}, seed: message.NewSeed()}
	var err error
	if o.ours, err = openSide(lib, into, here); err != nil {
		return nil, err
	}
	if o.theirs, err = openSide(lib, from, there); err == nil && base != "" {
		folder, wanted := base, everything
		if userdir.HasExtension(base) {
			folder, wanted = filepath.Dir(base), func(name string) bool { return name == userdir.ChatName(base) }
		}
		o.base, err = openSide(lib, folder, wanted)
	}
	return o, err
}

// at returns the chat at a path.
func (s *side) at(path string) (*file, error) {
	if i := slices.IndexFunc(s.files, func(f *file) bool { return filepath.Base(f.path) == filepath.Base(path) }); i >= 0 {
		return s.files[i], nil
	}
	if userdir.ChatName(path) == "" {
		return nil, fmt.Errorf("%s: %w", path, chat.ErrNotChat)
	}
	return nil, ops.PathError(chat.Refuse(path))
}

// apart refuses two paths that are one, or of which one contains the other.
func apart(into, from string) error {
	a, b := userdir.RealPath(into), userdir.RealPath(from)
	x, errX := os.Stat(into)
	y, errY := os.Stat(from)
	if err := errors.Join(errX, errY); err != nil {
		return ops.PathError(err)
	}
	if os.SameFile(x, y) || within(a, b) || within(b, a) {
		return fmt.Errorf("%s: %w", from, ErrSame)
	}
	return nil
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Run merges FROM into INTO, whatever they are: a chat into a chat, a chat or a folder of chats
// into a folder, or a user folder, or a zip of one, into another.
// Or it merges the conflict files in a user folder.
func Run(ctx context.Context, opt Options) *Result {
	r := new(Result)
	r.Doc = Summary{Schema: 1, Summary: true, Left: []string{}}
	r.Err = r.merge(ctx, &opt)
	return r
}

func (r *Result) merge(ctx context.Context, opt *Options) error {
	if opt.Conflicts {
		return r.conflicts(ctx, opt)
	}
	isZip := strings.EqualFold(filepath.Ext(opt.From), ".zip")
	whole := isZip || isUser(opt.Into) || isUser(opt.From) || len(opt.Owners) > 0 // which are paired in user folders only
	if !isZip {
		if err := apart(opt.Into, opt.From); err != nil {
			return err
		}
	}
	if !whole {
		return r.folder(ctx, opt)
	}
	into, err := userdir.Open(opt.Into)
	switch {
	case err != nil:
		return err
	case isZip:
		return r.zip(ctx, opt, into)
	}
	r.Doc.Left = leftOut(os.DirFS(opt.From))
	return r.user(ctx, opt, into)
}

// isUser reports whether a path is that of a user folder.
func isUser(path string) bool {
	return !userdir.HasExtension(path) && userdir.IsUserDir(path) && !userdir.IsPart(path)
}
