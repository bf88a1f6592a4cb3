package merge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/group"
)

// user is two user folders that are merged: what of FROM comes, and what of INTO stands for it.
// Names and addresses of INTO are put in what comes from FROM, and in nothing else.
type user struct {
	opt         *Options
	lib         *library.Library
	into, from  userdir.Dir
	based       map[string]string            // paths in FROM as the base spells them
	stems       map[string]string            // the characters of FROM, by their folders, and those of INTO that they are
	books       map[string]*book             // by FROM's name
	chats       map[string]map[string]string // by a lorebook of FROM: what the chats that name it are called in INTO
	files       map[string]*attachment       // by the place in FROM's user folder
	owners      map[string]*owner            // by the folder in FROM
	given       map[string]bool              // folded paths in INTO that come
	changed     map[string]bool              // paths of chats of INTO that get links, or even lines
	works       []*work
	inGroups    *inFolder
	groupOwners []*owner // whose parents and links are decided once all chats of groups have their names

	carried, cards, owned []*job // lorebooks and attachments; cards; chats and groups

	needs   []string // of the chat that is looked through
	planned bool     // everything that comes is known
	renames bool     // some attachment or card comes under another name
}

// user merges a user folder into another: cards, then each owner's chats, then lorebooks, which may
// name these, and what comes with the chats.
func (r *Result) user(ctx context.Context, opt *Options) error {
	var dirs [3]userdir.Dir // INTO, FROM and, if it is known, what both were
	lib := new(library.Library)
	for i, path := range []string{opt.Into, opt.From, opt.Base} {
		if path == "" {
			continue
		}
		var err error
		if dirs[i], err = userdir.Open(path); err == nil {
			err = ops.InFiles(lib, dirs[i], path)
		}
		if err != nil {
			return err
		}
	}
	u := newUser(opt, lib, dirs[0], dirs[1])
	if opt.Base != "" {
		u.based = respelled(placesIn(u.from), placesIn(dirs[2]))
	}
	for _, part := range []string{u.from.Chats(), u.from.GroupChats(), u.from.Groups(), u.from.Worlds(), u.from.Characters()} {
		if err := followed(part); err != nil {
			return err
		}
	}
	owners := func(dir userdir.Dir) []string { return (&address.Finder{Lib: u.lib, Data: dir.Root}).Owners() }
	for _, stem := range slices.Sorted(maps.Keys(opt.Owners)) {
		if !u.comes(stem) && u.lib.Folder(filepath.Join(u.from.Chats(), stem)).Err != nil {
			return &address.NoneError{Arg: stem, Known: owners(u.from), Owner: true}
		}
	}
	u.stems = respelled(owners(u.from), owners(u.into))
	maps.Copy(u.stems, opt.Owners)
	if err := u.readCards(); err != nil {
		return err
	}
	for stem, to := range u.stems {
		u.renames = u.renames || stem != to
		if _, err := os.Stat(filepath.Join(opt.Base, "chats", to)); u.based != nil && err == nil { // where it knows INTO's name
			u.based[filepath.Join("chats", stem)] = filepath.Join("chats", to)
		}
	}
	for _, step := range []func(context.Context) error{u.solo, u.groups} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	var isNamed func(name string) bool
	if opt.part != "" {
		isNamed = u.booksOfPart(ctx)
	}
	if err := u.readBooks(ctx, isNamed); err != nil {
		return err
	}
	return r.withNamed(ctx, u)
}

// newUser returns two user folders of which nothing has been compared.
func newUser(opt *Options, lib *library.Library, into, from userdir.Dir) *user {
	return &user{
		opt: opt, lib: lib, into: into, from: from, stems: map[string]string{}, books: map[string]*book{}, chats: map[string]map[string]string{},
		files: map[string]*attachment{}, owners: map[string]*owner{}, given: map[string]bool{}, changed: map[string]bool{}, inGroups: newInFolder(),
	}
}

// withNamed makes the changes, together with what the cards and chats that come name.
func (r *Result) withNamed(ctx context.Context, u *user) error {
	jobs := slices.Concat(u.cards, u.owned, u.carried) // lorebooks last, which the others name
	for _, j := range jobs {
		u.leaveDeleted(j)
		u.collect(ctx, j)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	carried := u.carried
	for _, j := range jobs {
		if j.compare != nil {
			j.compare()
		}
	}
	u.carried, u.planned = carried, true // what only the comparison names does not come
	r.run(ctx, u.opt, userdir.RealPath(u.into.Root), u.carried, slices.Concat(u.cards, u.owned))
	return nil
}

// wanted reports whether a path in FROM, with slashes, is meant, or a folder that it is in.
func (opt *Options) wanted(place string) bool {
	return opt.part == "" || place == opt.part || strings.HasPrefix(place, opt.part+"/")
}

// overlaps reports whether something in a folder of FROM is meant.
func (opt *Options) overlaps(folder string) bool {
	return opt.wanted(folder) || strings.HasPrefix(opt.part, folder+"/")
}

// entriesOf lists a folder of a user folder, which may be missing.
func entriesOf(folder string) ([]fs.DirEntry, error) {
	entries, err := safefile.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return entries, ops.PathError(err)
}

// namesOf returns the names of a folder's entries.
func namesOf(entries []fs.DirEntry) (list []string) {
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// placesIn returns the paths in a user folder of what the base may spell in another way.
func placesIn(dir userdir.Dir) (list []string) {
	for _, folder := range []string{dir.Chats(), dir.Characters(), dir.Groups(), dir.Worlds()} {
		entries, _ := safefile.ReadDir(folder) // one that is missing has none
		for _, name := range namesOf(entries) {
			list = append(list, filepath.Join(filepath.Base(folder), name))
		}
	}
	return list
}

// inBase returns the path in the base of what is at path in FROM; "": there is no base.
func (u *user) inBase(path string) string {
	rel, err := filepath.Rel(u.from.Root, path)
	if err != nil || u.opt.Base == "" {
		return ""
	}
	return filepath.Join(u.opt.Base, cmp.Or(u.based[rel], rel))
}

// solo merges the chats of characters.
func (u *user) solo(ctx context.Context) error {
	folders, err := entriesOf(u.from.Chats())
	for _, e := range folders {
		from := filepath.Join(u.from.Chats(), e.Name())
		stem := cmp.Or(u.stems[e.Name()], e.Name())
		if !u.opt.overlaps("chats/" + e.Name()) {
			continue
		}
		if err := followed(from); err != nil {
			j := newJob(SoloChat, from, filepath.Join(u.into.Chats(), stem))
			j.row.refuse(err)
			u.owned = append(u.owned, j)
			continue
		}
		if !e.IsDir() {
			continue
		}
		o, err := u.merge(ctx, filepath.Join(u.into.Chats(), stem), from, nil, everything, func(name string) bool {
			return u.opt.wanted("chats/" + e.Name() + "/" + name + names.Extension)
		})
		if err != nil {
			return err
		}
		u.owners[e.Name()] = o
		finish(ctx, o)
		u.add(o)
	}
	return err
}

// add adds what is to be done about an owner's chats. Two owners of FROM may be one in INTO: a chat there gets
// something from one of them at a time.
func (u *user) add(o *owner) {
	for _, w := range o.works {
		ahead := w.row.Sign == Ahead
		if !ahead && len(w.links) == 0 {
			continue
		}
		if other, known := u.changed[w.p.path]; known && (other || ahead) {
			w.row.refuse(fmt.Errorf("%s: another chat of FROM goes into it, too: merge again", w.p.path))
		} else {
			u.changed[w.p.path] = ahead
		}
	}
	u.works = append(u.works, o.works...)
	u.owned = append(u.owned, o.jobs()...)
}

// merge compares the chats of an owner, whom a group lists in INTO, on both sides.
func (u *user) merge(ctx context.Context, into, from string, listed *group.File, here, there func(name string) bool) (*owner, error) {
	var was chats
	base := u.inBase(from)
	if base != "" {
		was.folder = u.lib.Folder(base)
	}
	o, err := u.opt.owner(u.lib, into, from, was, here, there)
	if err != nil {
		return nil, err
	}
	o.user = u
	o.group = listed
	o.given = u.given
	if o.theirs.folder.Kind == userdir.Group {
		o.inFolder = u.inGroups
		u.groupOwners = append(u.groupOwners, o)
	}
	return o, o.mergeAll(ctx, o.ours.files)
}

// groups merges the chats of groups, which are the same by their file's name.
func (u *user) groups(ctx context.Context) error {
	theirs, err := u.lib.Groups(u.from)
	ours, errHere := u.lib.Groups(u.into)
	if err := cmp.Or(err, errHere); err != nil {
		return ops.PathError(err)
	}
	for _, bad := range theirs.Bad {
		j := newJob(GroupKind, u.from.Groups(), u.into.Groups())
		j.row.refuse(bad)
		u.owned = append(u.owned, j)
	}
	byFile := map[string]*group.File{} // of INTO
	for _, g := range ours.Files {
		byFile[filepath.Base(g.Path)] = g
	}
	both := func(name string) bool { // whether a group lists a chat on either side
		return slices.ContainsFunc(theirs.Listing(name), func(there *group.File) bool {
			here := byFile[filepath.Base(there.Path)]
			return here != nil && here.Lists(name)
		})
	}
	for _, known := range []bool{true, false} { // a chat that several list may have its copy in one that INTO has
		for _, there := range theirs.Files {
			if here := byFile[filepath.Base(there.Path)]; known == (here != nil) {
				if err := u.group(ctx, there, here, both); err != nil {
					return err
				}
			}
		}
	}
	o, err := u.merge(ctx, u.into.GroupChats(), u.from.GroupChats(), nil, func(name string) bool { return !u.inGroups.copied[name] },
		func(name string) bool { return len(theirs.Listing(name)) == 0 && u.opt.wanted(groupChat(name)) })
	if err != nil {
		return err
	}
	for _, w := range o.works {
		if w.isNew() {
			w.row.tell("no group of FROM lists it")
		}
	}
	u.add(o)
	finish(ctx, u.groupOwners...) // which are in one folder
	return nil
}

// groupChat returns the path of a group chat in its user folder.
func groupChat(name string) string { return "group chats/" + name + names.Extension }

// group merges a group and those of its chats that no other one has brought. here is that of INTO; nil: there is
// none. A chat in both is where another one lists it, if this one of FROM lists it as well.
func (u *user) group(ctx context.Context, there, here *group.File, both func(name string) bool) error {
	file := filepath.Base(there.Path)
	own := newJob(GroupKind, there.Path, filepath.Join(u.into.Groups(), file))
	if err := followed(there.Path); err != nil {
		own.row.refuse(err)
		u.owned = append(u.owned, own)
		return nil
	}
	if here == nil {
		if _, err := group.Load(own.row.Path); !errors.Is(err, fs.ErrNotExist) {
			own.row.refuse(err)
			own.row.tell("its chats do not come either")
			u.owned = append(u.owned, own)
			return nil
		}
	}
	o, err := u.merge(ctx, u.into.GroupChats(), u.from.GroupChats(), here, func(name string) bool {
		if here == nil || u.inGroups.copied[name] {
			return false
		}
		return here.Lists(name) || there.Lists(name) && both(name)
	}, func(name string) bool {
		isMeant := u.opt.wanted(groupChat(name)) || u.opt.wanted("groups/"+file)
		return isMeant && there.Lists(name) && u.inGroups.to[name] == ""
	})
	if err != nil {
		return err
	}
	for _, w := range slices.Concat(u.works, o.works) { // another group may have brought it
		switch {
		case w.theirs.folder != o.theirs.folder || !there.Lists(w.c.name):
		case here == nil:
			w.needs = append(w.needs, own.row.Path)
		default:
			w.listIn(here)
		}
	}
	switch {
	case here == nil:
		own.row.Sign = New
		own.creates(own.row.Path, func(_ context.Context, s *changeset.Set) error {
			return ops.Create(s, own.row.Path, fmt.Sprintf("the group %q", there.Name), u.groupHere(o, there), changeset.InFolder())
		})
		own.needed = o.comes
		own.look = func(context.Context) error { u.groupHere(o, there); return nil }
	case bytes.Equal(here.Raw(), there.Raw()):
		own.row.Sign = Same
	default:
		own.row.Sign = Behind
		own.compare = func() {
			if keys := differing(object(here.Raw()), object(there.Raw()), object(u.groupHere(o, there)), true, "chats", "date_last_chat"); len(keys) > 0 {
				own.row.tell("the groups differ; INTO's stays but for its list of chats: " + keysTold(keys))
			}
		}
	}
	if u.opt.wanted("groups/"+file) || own.draft != nil && len(o.works) > 0 {
		u.owned = append(u.owned, own)
	}
	u.add(o)
	return nil
}

// comes reports whether a chat of an owner, if there is one, comes.
func (o *owner) comes() bool { return o != nil && slices.ContainsFunc(o.works, (*work).writes) }

// collect notes what must not be missing when something that is written is there.
func (u *user) collect(ctx context.Context, j *job) {
	if j.draft == nil || j.look == nil {
		return
	}
	u.needs = nil
	if err := j.look(ctx); err != nil {
		j.row.refuse(err)
	}
	slices.Sort(u.needs)
	j.needs = append(j.needs, slices.Compact(u.needs)...)
}

// leaveDeleted leaves out what the base has as it is, unless something that comes needs it.
func (u *user) leaveDeleted(j *job) {
	if j.needed == nil {
		return
	}
	base := u.inBase(j.row.From)
	if _, same, err := compare(j.row.From, base); err == nil && same && !j.needed() {
		j.draft = nil
		j.row.Sign = Behind
		j.row.To = nil
		j.row.OwnFrom = 0
		j.row.tell(deleted)
	}
}

// groupHere returns a group of FROM with the names of INTO.
func (u *user) groupHere(o *owner, there *group.File) []byte {
	data := there.WithNames(func(name string) (string, bool) { return o.now(name), !o.deleted[name] }, "")
	return rawjson.Edit(u.follow(data), func(g *rawjson.Object) {
		for _, key := range []string{"members", "disabled_members"} {
			g.EditList(key, func(_ int, raw []byte) ([]byte, bool) {
				member, _ := rawjson.Unquote(raw)
				if to := u.avatar(member); to != member {
					raw = rawjson.Quote(to)
				}
				return raw, true
			})
		}
	})
}

// leftOut returns what a user folder has and is never merged.
func leftOut(folder fs.FS) []string {
	has := func(name string) bool { _, err := fs.Stat(folder, name); return err == nil }
	found := []string{}
	for _, never := range [][]string{ // what it is, and where
		{"settings, personas, tags", "settings.json"},
		{"secrets", "secrets.json"},
		{"presets", "OpenAI Settings", "TextGen Settings", "KoboldAI Settings", "NovelAI Settings", "instruct", "context", "sysprompt", "QuickReplies"},
		{"vectors", "vectors"},
		{"extensions", "extensions"},
		{"backups", "backups"},
	} {
		if slices.ContainsFunc(never[1:], has) {
			found = append(found, strings.Split(never[0], ", ")...)
		}
	}
	return found
}
