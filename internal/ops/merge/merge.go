package merge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"stchat/internal/changeset"
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
	// ErrGroup means that a folder holds the chats of all groups.
	ErrGroup = error(&ops.Kind{Code: "refused", Text: "holds the chats of all groups; name a group's file, or the user folder"})
)

// Chat merges one chat into another, whatever both are called.
func Chat(ctx context.Context, opt Options) *Result {
	r := newResult()
	r.Err = func() error {
		if err := apart(opt.Into, opt.From); err != nil {
			return err
		}
		kind, _ := userdir.KindOf(opt.Into)
		if other, _ := userdir.KindOf(opt.From); kind != userdir.File && other != userdir.File && kind != other {
			return fmt.Errorf("%s: %w", opt.From, ErrKinds)
		}
		o, err := opt.owner(ctx, filepath.Dir(opt.Into), filepath.Dir(opt.From), everything, func(name string) bool { return name == userdir.ChatName(opt.From) })
		if err != nil {
			return err
		}
		p, err := o.ours.at(opt.Into)
		if err != nil {
			return err
		}
		c, err := o.theirs.at(opt.From)
		if err != nil {
			return err
		}
		if set, err := o.ours.lib.In(o.ours.folder.Dir); err == nil && o.isGroup() {
			if list := set.Listing(p.name); len(list) > 0 {
				o.group = list[0].Path
			}
		}
		if err := o.mergeOne(ctx, c, p); err != nil {
			return err
		}
		r.run(ctx, &opt, o.jobs())
		return nil
	}()
	return r
}

// Folder merges the chats of a folder, or of one owner, into another one's.
func Folder(ctx context.Context, opt Options) *Result {
	r := newResult()
	r.Err = func() error {
		if err := apart(opt.Into, opt.From); err != nil {
			return err
		}
		here, err := chatsOf(opt.Into)
		if err != nil {
			return err
		}
		there, err := chatsOf(opt.From)
		if err != nil {
			return err
		}
		if a, b := here.kind(), there.kind(); a != userdir.File && b != userdir.File && a != b {
			return fmt.Errorf("%s: %w", opt.From, ErrKinds)
		}
		o, err := opt.owner(ctx, here.folder, there.folder, here.has, func(name string) bool { return there.has(name) && opt.wanted(name+names.Extension) })
		if err != nil {
			return err
		}
		if here.group != nil {
			o.group = here.group.Path
		}
		if err := o.mergeAll(ctx); err != nil {
			return err
		}
		r.run(ctx, &opt, o.jobs())
		return nil
	}()
	return r
}

// chats are those that a path means.
type chats struct {
	folder string
	only   string      // the one chat; "": all
	group  *group.File // those it lists; nil: all
}

// chatsOf returns the chats of a folder, an owner, or the one in a file.
func chatsOf(path string) (chats, error) {
	if userdir.HasExtension(path) {
		return chats{folder: filepath.Dir(path), only: userdir.ChatName(path)}, nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		c := chats{folder: path}
		if _, inUser := userdir.Find(filepath.Join(path, "x"+names.Extension)); inUser && c.kind() == userdir.Group {
			err = fmt.Errorf("%s: %w", path, ErrGroup)
		}
		return c, err
	}
	o, err := address.OwnerOf(new(library.Library), path, "")
	if err != nil {
		return chats{}, err
	}
	return chats{folder: o.Folder, group: o.Group}, nil
}

func (c *chats) has(name string) bool {
	return (c.only == "" || c.only == name) && (c.group == nil || c.group.Lists(name))
}

func (c *chats) kind() userdir.Kind {
	kind, _ := userdir.KindOf(filepath.Join(c.folder, "x"+names.Extension))
	return kind
}

func everything(string) bool { return true }

// owner opens two folders with the chats of both that are wanted.
func (opt *Options) owner(ctx context.Context, into, from string, here, there func(name string) bool) (*owner, error) {
	lib := new(library.Library)
	for _, path := range []string{into, from} {
		if err := inFiles(lib, path); err != nil {
			return nil, err
		}
	}
	return opt.newOwner(ctx, lib, into, from, here, there)
}

func (opt *Options) newOwner(ctx context.Context, lib *library.Library, into, from string, here, there func(name string) bool) (*owner, error) {
	o := &owner{opt: opt, label: opt.Label, seed: message.NewSeed(), bases: map[*one]*baseSet{}}
	if o.label == "" {
		o.label = label(into, from)
	}
	var err error
	if o.ours, err = openSide(ctx, lib, into, here); err != nil {
		return nil, err
	}
	if o.theirs, err = openSide(ctx, lib, from, there); err == nil && opt.Base != "" {
		base, wanted := opt.Base, everything
		if userdir.HasExtension(base) {
			base, wanted = filepath.Dir(base), func(name string) bool { return name == userdir.ChatName(opt.Base) }
		}
		o.base, err = openSide(ctx, lib, base, wanted)
	}
	return o, err
}

// at returns the chat at a path.
func (s *side) at(path string) (*file, error) {
	name := userdir.ChatName(path)
	if i := slices.IndexFunc(s.files, func(f *file) bool { return filepath.Base(f.path) == filepath.Base(path) }); i >= 0 {
		return s.files[i], nil
	}
	f, err := chat.OpenRegular(path)
	if err == nil {
		_ = f.Close() // only opened for what is wrong with it
		err = fmt.Errorf("%s: %w", path, chat.ErrNotChat)
	}
	if name == "" {
		err = fmt.Errorf("%s: %w", path, chat.ErrNotChat)
	}
	return nil, ops.PathError(err)
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

func newResult() *Result {
	r := &Result{seen: map[changeset.Step]bool{}}
	r.Doc = Summary{Schema: 1, Summary: true, Left: []string{}}
	return r
}

// Run merges FROM into INTO, whatever they are: a chat into a chat, a chat or a folder of chats
// into a folder, or a user folder, or a zip of one, into another.
func Run(ctx context.Context, opt Options) *Result {
	switch {
	case userdir.HasExtension(opt.Into):
		return Chat(ctx, opt)
	case userdir.IsUserDir(opt.Into) && !userdir.IsPart(opt.Into) && isZip(opt.From):
		return zipped(ctx, opt)
	case userdir.IsUserDir(opt.Into) && !userdir.IsPart(opt.Into):
		return User(ctx, opt)
	}
	return Folder(ctx, opt)
}
