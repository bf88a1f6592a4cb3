package merge

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	// ErrSame means that INTO and FROM are one, or one is inside the other.
	ErrSame = error(&ops.Kind{Code: "refused", Text: "INTO and FROM are the same, or one lies inside the other"})
	// ErrKinds means that a character's chat and a group's were to become one.
	ErrKinds = error(&ops.Kind{Code: "refused", Text: "one is a character's, the other a group's"})
	// ErrNoOwner means that a folder of a user folder is no character's.
	ErrNoOwner = error(&ops.Kind{Code: "refused", Text: "does not hold the chats of a character; name a folder in chats, or the user folder"})
	// ErrGroup means that a folder holds the chats of all groups.
	ErrGroup = error(&ops.Kind{Code: "refused", Text: "holds the chats of all groups; name a group's file, or the user folder"})
	// ErrUnrelated means that two chats are no copies of one.
	ErrUnrelated = error(&ops.Kind{Code: "refused", Text: "it shares no more than a greeting with INTO, and is no copy of that", Hint: "other-chat"})
	// ErrBase means that something is not the same kind of thing as INTO and FROM, or not apart from them.
	ErrBase = error(&ops.Kind{Code: "refused", Text: "cannot be what both were"})
)

// folder merges the chats of a folder, or of one owner, into another one's; one chat into another,
// whatever both are called.
func (r *Result) folder(ctx context.Context, opt *Options) error {
	lib, single := new(library.Library), userdir.HasExtension(opt.Into)
	var sides [3]chats // INTO, FROM and, if it is known, what both were
	for i, path := range []string{opt.Into, opt.From, opt.Base} {
		if path == "" {
			continue
		}
		c, err := chatsOf(ctx, lib, path, single)
		if err == nil && c.folder.HasDir {
			err = ops.InFiles(lib, c.folder.Dir, c.folder.Path)
		}
		if err != nil {
			return err
		}
		sides[i] = c
		if !sameKind(sides[0].folder, c.folder) {
			return fmt.Errorf("%s: %w", path, ErrKinds)
		}
	}
	here := sides[0]
	there := sides[1]
	was := sides[2]
	switch {
	case here.misnamed != "":
		return ops.PathError(chat.CheckName(here.misnamed))
	case opt.Base == "":
	case was.misnamed != "":
		return fmt.Errorf("%s: %w: its name does not end in %s", opt.Base, ErrBase, names.Extension)
	case was.only != "" && there.only == "":
		return fmt.Errorf("%s: %w: FROM is more than a chat", opt.Base, ErrBase)
	case len(was.folder.Chats) == 0:
		return fmt.Errorf("%s: %w: it has no chat", opt.Base, ErrBase)
	}
	open := func() (*owner, error) {
		o, err := opt.owner(lib, here.folder.Path, there.folder.Path, was,
			func(name string) bool { return single || here.has(name) },
			there.has)
		if err == nil && there.misnamed != "" {
			o.theirs.files = []*file{{lib: lib, name: there.only, key: names.FoldNFC(there.only), path: there.misnamed, isMisnamed: true}}
		}
		if err == nil {
			o.group, o.user = here.group, opt.around(lib, here.folder, there.folder)
		}
		return o, err
	}
	o, err := open()
	switch {
	case err != nil:
		return err
	case single:
		o, err = o.mergeInto(ctx, here.only, open)
	default:
		err = o.mergeAll(ctx, o.ours.files)
	}
	if err != nil {
		return err
	}
	finish(ctx, o)
	if u := o.user; u != nil {
		u.works, u.owned = o.works, o.jobs()
		named := bookNames(ctx, o.works)
		if err := u.readBooks(ctx, func(name string) bool { return named[name] }); err != nil {
			return err
		}
		return r.withNamed(ctx, u)
	}
	if err := o.tellLeft(ctx, here.folder, there.folder); err != nil {
		return err
	}
	r.run(ctx, opt, "", nil, o.jobs())
	return nil
}

// sameKind reports whether two folders may hold chats of one owner: not a character's and a group's.
func sameKind(a, b *library.Folder) bool {
	isKnown := a.Kind != userdir.File && b.Kind != userdir.File
	return !isKnown || a.Kind == b.Kind
}

// around returns the two user folders in which the folders of an owner lie, whose lorebooks and attachments come along if
// chats that come name them. nil: not both lie in one, or both in the same.
func (opt *Options) around(lib *library.Library, into, from *library.Folder) *user {
	if !into.HasDir || !from.HasDir || userdir.RealPath(into.Dir.Root) == userdir.RealPath(from.Dir.Root) {
		return nil
	}
	return newUser(opt, lib, into.Dir, from.Dir)
}

// mergeInto compares FROM's chat with the chat of INTO that was named, and with those to which an earlier merge may have
// brought it. If it is no copy of these, it may still be here whole: then that is said, for which open opens both
// sides again. Else it is refused.
func (o *owner) mergeInto(ctx context.Context, named string, open func() (*owner, error)) (*owner, error) {
	c := o.theirs.files[0]
	c.key = names.FoldNFC(named)
	into := those(o.ours.files, func(p *file) bool { return p.name == named || o.mayHave(ctx, p, c) })
	if err := o.mergeAll(ctx, into); err != nil || o.works[0].row.Sign != Other {
		return o, err
	}
	whole, err := open()
	if err != nil {
		return nil, err
	}
	c = whole.theirs.files[0]
	elsewhere := those(whole.ours.files, func(p *file) bool { return userdir.RealPath(p.path) != userdir.RealPath(c.path) && whole.isMember(p) })
	if err := whole.mergeAll(ctx, elsewhere); err != nil {
		return nil, err
	}
	w := whole.works[0]
	switch w.row.Sign {
	case Same, Behind, Refused:
		return whole, nil
	case Ahead, Parted:
		return nil, fmt.Errorf("%s: %w, but one of %s", c.path, ErrUnrelated, w.p.path)
	}
	return nil, fmt.Errorf("%s: %w", c.path, ErrUnrelated)
}

// mayHave reports whether an earlier merge may have brought FROM's chat to one of INTO.
func (o *owner) mayHave(ctx context.Context, p, c *file) bool {
	isNamed := p.key == c.key
	hasItsName := strings.HasPrefix(p.key, names.FoldNFC(unnumbered(c.name)))
	if isNamed || !hasItsName || !o.isMember(p) || userdir.RealPath(p.path) == userdir.RealPath(c.path) {
		return false
	}
	return p.key != names.FoldNFC(c.name) || o.holds(ctx, p, c)
}

// isMember reports whether a chat of INTO is the group's, if it is a group's that is merged.
func (o *owner) isMember(p *file) bool { return o.group == nil || o.group.Lists(p.name) }

// chats are those that a path means.
type chats struct {
	folder *library.Folder
	only   string      // the one chat; "": all
	group  *group.File // that lists them; nil: none

	misnamed string // the path of the one chat, if its name does not end as a chat's: the folder does not list it
}

// chatsOf returns the chats of a folder, an owner, or the single one in a file.
func chatsOf(ctx context.Context, lib *library.Library, path string, single bool) (chats, error) {
	info, err := os.Stat(path)
	isFile := err == nil && info.Mode().IsRegular()
	if isFile && single && !userdir.HasExtension(path) {
		return misnamed(ctx, lib, path, chat.Refuse(path))
	}
	if single || userdir.HasExtension(path) {
		folder, name := lib.Folder(filepath.Dir(path)), userdir.ChatName(path)
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

func (c *chats) has(name string) bool {
	return (c.only == "" || c.only == name) && (c.group == nil || c.group.Lists(name))
}

func everything(string) bool { return true }

// owner opens two folders with the chats of both that are wanted, and what both were; none: unknown.
func (opt *Options) owner(lib *library.Library, into, from string, was chats, here, there func(name string) bool) (*owner, error) {
	o := &owner{opt: opt, label: cmp.Or(opt.label, label(into, from)), inFolder: newInFolder(), given: map[string]bool{}, seed: message.NewSeed()}
	var err, errThere, errWas error
	o.ours, err = openSide(lib, into, here)
	o.theirs, errThere = openSide(lib, from, there)
	if errThere == nil {
		o.theirs.addLinks(there)
	}
	if was.folder != nil {
		o.base, errWas = openSide(lib, was.folder.Path, was.has)
	}
	return o, cmp.Or(err, errThere, errWas)
}

// notIn refuses a path that is another one or lies inside it, which a zip may.
func notIn(path, in string, why error) error {
	x, _ := os.Stat(in) // a character's folder comes with the first chat
	y, _ := os.Stat(path)
	if os.SameFile(x, y) || userdir.Inside(in, path) && !isZip(path) {
		return fmt.Errorf("%s: %w", path, why)
	}
	return nil
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
	for _, path := range []string{opt.From, cmp.Or(opt.Base, opt.From)} {
		if _, err := os.Stat(path); err != nil {
			return ops.PathError(err)
		}
	}
	err := cmp.Or(notIn(opt.From, opt.Into, ErrSame), notIn(opt.Into, opt.From, ErrSame))
	if err == nil && opt.Base != "" {
		why := fmt.Errorf("%w: it is INTO or FROM, or inside one", ErrBase)
		err = cmp.Or(notIn(opt.Base, opt.Into, why), notIn(opt.Base, opt.From, why))
	}
	switch {
	case err != nil:
		return err
	case isZip(opt.From) || isUser(opt.From):
		return r.unpacked(ctx, opt)
	case isUser(opt.Into):
		return r.part(ctx, opt)
	case len(opt.Owners) > 0: // which are paired in user folders only
		_, err := userdir.Open(opt.Into)
		return err
	}
	return r.folder(ctx, opt)
}

// isUser reports whether a path is that of a user folder.
func isUser(path string) bool {
	return !userdir.HasExtension(path) && userdir.IsUserDir(path) && !userdir.IsPart(path)
}
