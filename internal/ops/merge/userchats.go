package merge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/group"
)

// solo merges the chats of characters.
func (u *user) solo(ctx context.Context) error {
	folders, errList := entriesOf(u.from.Chats())
	for _, e := range folders {
		if !u.opt.overlaps("chats/" + e.Name()) {
			continue
		}
		from := filepath.Join(u.from.Chats(), e.Name())
		into := filepath.Join(u.into.Chats(), cmp.Or(u.stems[e.Name()], e.Name()))
		if err := followed(from); err != nil {
			u.refused(SoloChat, from, into, err)
			continue
		}
		if !e.IsDir() {
			continue
		}

		isMeant := func(name string) bool { return u.opt.wanted("chats/" + e.Name() + "/" + name + names.Extension) }
		o, err := u.compareOwner(ctx, into, from, nil, everything, isMeant)
		if err != nil {
			return err
		}
		u.owners[e.Name()] = o
		decideLinks(ctx, o)
		u.add(o)
	}
	return errList
}

// refused adds a row for what is not looked into.
func (u *user) refused(kind Kind, from, into string, err error) *job {
	j := newJob(kind, from, into)
	j.row.refuse(err)
	u.owned = append(u.owned, j)
	return j
}

// compareOwner compares the chats of an owner, whom a group lists in INTO, on both sides, and gives names to those that come.
func (u *user) compareOwner(ctx context.Context, into, from string, listed *group.File, isOurs, isTheirs func(name string) bool) (*owner, error) {
	var base chats
	if path := u.inBase(from); path != "" {
		base.folder = u.lib.Folder(path)
	}
	o, err := u.opt.openOwner(u.lib, into, from, base, isOurs, isTheirs)
	if err != nil {
		return nil, err
	}
	o.user = u
	o.group = listed
	o.given = u.given
	o.noteNames()
	if o.theirs.folder.Kind == userdir.Group {
		o.inFolder = u.inGroups
		u.groupOwners = append(u.groupOwners, o)
	}

	copies, err := o.findCopies(ctx, o.ours.files)
	if err != nil {
		return nil, err
	}
	o.decide(copies)
	return o, nil
}

// inBase returns the path in the base of what is at path in FROM; "": there is no base.
func (u *user) inBase(path string) string {
	rel, err := filepath.Rel(u.from.Root, path)
	if err != nil || u.opt.Base == "" {
		return ""
	}
	return filepath.Join(u.opt.Base, cmp.Or(u.based[rel], rel))
}

// add adds what is to be done about an owner's chats. Two owners of FROM may be one in INTO: a chat there gets
// something from one of them at a time.
func (u *user) add(o *owner) {
	for _, w := range o.works {
		isAhead := w.row.Sign == Ahead
		if !isAhead && len(w.links) == 0 {
			continue
		}
		wasAhead, isChanged := u.changed[w.into.path]
		if isChanged && (wasAhead || isAhead) {
			w.row.refuse(fmt.Errorf("%s: another chat of FROM goes into it, too: merge again", w.into.path))
			continue
		}
		u.changed[w.into.path] = isAhead
	}

	u.works = append(u.works, o.works...)
	u.owned = append(u.owned, o.jobs()...)
}

// groups merges the chats of groups, which are the same by their file's name.
func (u *user) groups(ctx context.Context) error {
	theirs, err := u.lib.Groups(u.from)
	if err != nil {
		return ops.PathError(err)
	}
	ours, err := u.lib.Groups(u.into)
	if err != nil {
		return ops.PathError(err)
	}
	for _, bad := range theirs.Bad {
		u.refused(GroupKind, u.from.Groups(), u.into.Groups(), bad)
	}

	byFile := map[string]*group.File{} // of INTO
	for _, g := range ours.Files {
		byFile[filepath.Base(g.Path)] = g
	}
	inBoth := func(name string) bool { // whether a group lists a chat on either side
		return slices.ContainsFunc(theirs.Listing(name), func(there *group.File) bool {
			here := byFile[filepath.Base(there.Path)]
			return here != nil && here.Lists(name)
		})
	}

	for _, isKnown := range []bool{true, false} { // a chat that several list may have its copy in one that INTO has
		for _, there := range theirs.Files {
			here := byFile[filepath.Base(there.Path)]
			if isKnown != (here != nil) {
				continue
			}
			if err := u.group(ctx, there, here, inBoth); err != nil {
				return err
			}
		}
	}
	if err := u.unlisted(ctx, theirs); err != nil {
		return err
	}
	decideLinks(ctx, u.groupOwners...) // which are in one folder
	return nil
}

// unlisted merges the group chats that no group of FROM lists.
func (u *user) unlisted(ctx context.Context, theirs *group.Set) error {
	isLeft := func(name string) bool { return !u.inGroups.copied[name] }
	isUnlisted := func(name string) bool { return len(theirs.Listing(name)) == 0 && u.opt.wanted(groupChat(name)) }
	o, err := u.compareOwner(ctx, u.into.GroupChats(), u.from.GroupChats(), nil, isLeft, isUnlisted)
	if err != nil {
		return err
	}
	for _, w := range o.works {
		if w.isNew() {
			w.row.tell("no group of FROM lists it")
		}
	}

	u.add(o)
	return nil
}

// groupChat returns the path of a group chat in its user folder.
func groupChat(name string) string { return "group chats/" + name + names.Extension }

// group merges a group and those of its chats that no other one has brought. here is that of INTO; nil: there is
// none. A chat in both is where another one lists it, if this one of FROM lists it as well.
func (u *user) group(ctx context.Context, there, here *group.File, inBoth func(name string) bool) error {
	file := filepath.Base(there.Path)
	path := filepath.Join(u.into.Groups(), file)
	if err := followed(there.Path); err != nil {
		u.refused(GroupKind, there.Path, path, err)
		return nil
	}
	if here == nil {
		if _, err := group.Load(path); !errors.Is(err, fs.ErrNotExist) {
			u.refused(GroupKind, there.Path, path, err).row.tell("its chats do not come either")
			return nil
		}
	}

	isOurs := func(name string) bool {
		if here == nil || u.inGroups.copied[name] {
			return false
		}
		return here.Lists(name) || there.Lists(name) && inBoth(name)
	}

	isTheirs := func(name string) bool {
		isMeant := u.opt.wanted(groupChat(name)) || u.opt.wanted("groups/"+file)
		return isMeant && there.Lists(name) && u.inGroups.to[name] == ""
	}
	o, err := u.compareOwner(ctx, u.into.GroupChats(), u.from.GroupChats(), here, isOurs, isTheirs)
	if err != nil {
		return err
	}
	for _, w := range slices.Concat(u.works, o.works) { // another group may have brought it
		switch {
		case w.theirs.folder != o.theirs.folder || !there.Lists(w.from.name):
		case here == nil:
			w.needs = append(w.needs, path)
		default:
			w.listIn(here)
		}
	}

	own := newJob(GroupKind, there.Path, path)
	u.judgeGroup(own, o, there, here)
	if u.opt.wanted("groups/"+file) || own.draft != nil && len(o.works) > 0 {
		u.owned = append(u.owned, own)
	}
	u.add(o)
	return nil
}

// judgeGroup decides what becomes of a group's file: INTO's stays, or it is new there.
func (u *user) judgeGroup(own *job, o *owner, there, here *group.File) {
	row := own.row
	if here == nil {
		row.Sign = New
		own.creates(row.Path, func(_ context.Context, s *changeset.Set) error {
			return ops.Create(s, row.Path, fmt.Sprintf("the group %q", there.Name), u.groupHere(o, there), changeset.InFolder())
		})
		own.needed = o.comes
		own.look = func(context.Context) error {
			u.groupHere(o, there)
			return nil
		}
		return
	}

	if bytes.Equal(here.Raw(), there.Raw()) {
		row.Sign = Same
		return
	}
	row.Sign = Behind
	own.compare = func() {
		come := object(u.groupHere(o, there))
		keys := differing(object(here.Raw()), object(there.Raw()), come, true, "chats", "date_last_chat")
		if len(keys) > 0 {
			row.tell("the groups differ; INTO's stays but for its list of chats: " + keysTold(keys))
		}
	}
}

// groupHere returns a group of FROM with the names of INTO.
func (u *user) groupHere(o *owner, there *group.File) []byte {
	data := there.WithNames(func(name string) (string, bool) { return o.nameHere(name), !o.deleted[name] }, "")
	return rawjson.Edit(u.readdress(data), func(g *rawjson.Object) {
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
