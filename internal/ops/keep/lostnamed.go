package keep

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/text/visible"
)

// Chats that are asked for by a name that nobody knows: they are gone, and backups are all that is left of
// them. The name of a backup says which character it is of, or nearly how a group's chat was called.

// asked is what a name stands for, whether or not a chat ever had it.
type asked struct {
	rel   string // where the chat would be; "": in none of the folders where SillyTavern has chats
	group string // the file of the group by whose name it was asked for; "": none
	gone  string // the path of the only chat that the history knows, that is gone, and that has the name as a part of its own
	err   error  // several have
}

// findGroupsAsked finds the groups that were asked for by their names alone.
func (f *finder) findGroupsAsked(ctx context.Context) {
	addresses := f.now.finder(ctx)
	for _, name := range f.opt.Asked {
		found, _ := addresses.Find(name) // an error says that the group has no chat that is there
		isWhole := found.Name == "" || found.Name == "*"
		if found.Of == nil || found.Of.Group == nil || !isWhole {
			continue
		}
		f.groupsAsked = append(f.groupsAsked, userdir.RealPath(found.Of.Group.Path))
		f.answered = append(f.answered, name)
	}
}

// askedBy returns what a name stands for in the finder's root.
func (f *finder) askedBy(ctx context.Context, name string) asked {
	a, ok := f.asked[name]
	if !ok {
		a = f.readName(ctx, name)
		f.asked[name] = a
	}
	return a
}

// readName finds out what a name stands for.
func (f *finder) readName(ctx context.Context, name string) (a asked) {
	for _, rel := range plainPaths(f.root.Path, name) {
		if len(backupKeys(rel)) > 0 {
			return asked{rel: rel}
		}
	}

	addresses := f.now.finder(ctx)
	places := addresses.Places(name)
	found, err := addresses.Find(name)
	if found.Gone {
		a.gone = strings.Join(found.Paths, "") // if it is not one, there is an error
		a.err = err
	}
	if found.Of != nil && len(places) > 0 {
		places = []string{filepath.Join(found.Of.Folder, found.Name+names.Extension)}
		if found.Of.Group != nil {
			a.group = found.Of.Group.Path
		}
	}

	for _, path := range places {
		rel, err := relative(f.root.Path, path)
		if err == nil && len(backupKeys(rel)) > 0 {
			a.rel = rel
			return a
		}
	}
	return a
}

// path returns where a chat would be in a user's folder, "" if SillyTavern would give none that name.
func (a asked) path(root string) string {
	name := userdir.ChatName(a.rel)
	if a.rel == "" || name == "" || names.File(name) != name {
		return ""
	}
	return filepath.Join(root, filepath.FromSlash(a.rel))
}

// onlyKeys returns the keys of the backups that may be of what was asked for. ok is false if others may be,
// too: of a chat that is there, or that something else knows.
func (f *finder) onlyKeys(ctx context.Context) (keys []string, ok bool) {
	areNames := len(f.opt.Names) > 0 && len(f.opt.List.Paths)+len(f.groupsAsked) == 0
	if !areNames || slices.ContainsFunc(f.opt.Names, f.hasName) {
		return nil, false
	}
	for _, name := range f.opt.Names {
		a := f.askedBy(ctx, name)
		if a.gone != "" {
			return nil, false
		}
		keys = append(keys, backupKeys(a.rel)...)
	}
	return keys, true
}

// placeGone finds out where the chats that are gone come back: under the names by which they were asked
// for, or else under those that their backups suggest.
func (f *finder) placeGone(ctx context.Context) {
	for _, g := range f.found {
		g.path = g.chat.path
		if g.path == "" && g.isGone() {
			g.path = f.placeFor(ctx, g.chat.of, g.best)
		}
	}

	for _, name := range f.opt.Names {
		a := f.askedBy(ctx, name)
		switch {
		case f.hasName(name):
		case a.gone != "":
			f.want(name, func(g *loss) bool { return userdir.RealPath(g.path) == userdir.RealPath(a.gone) })
		case a.err != nil:
			f.errs = append(f.errs, a.err)
			f.answered = append(f.answered, name)
		default:
			f.nameGone(ctx, name, a)
		}

		for _, g := range f.found {
			if g.isGone() && slices.Contains(f.named[name], userdir.RealPath(g.path)) {
				g.group = a.group
			}
		}
	}
}

// want makes a loss what was asked for by a name that is not quite its own.
func (f *finder) want(name string, is func(g *loss) bool) {
	for _, g := range f.found {
		if g.isGone() && is(g) {
			g.isAsked = true
			f.answered = append(f.answered, name)
		}
	}
}

// nameGone gives a name that nobody knows to the chat of which backups are left that may have had it.
func (f *finder) nameGone(ctx context.Context, name string, a asked) {
	root, _, _ := rootOf(name, f.opt.Data)
	if userdir.RealPath(root) != userdir.RealPath(f.root.Path) {
		return
	}
	switch history.KindOf(a.rel) {
	case history.Group:
		f.nameOfGroup(a)
	case history.Solo:
		f.nameOfCharacter(ctx, name, a)
	}
}

// nameOfGroup gives a name to the chats of groups that have backups under its key.
func (f *finder) nameOfGroup(a asked) {
	path := a.path(f.root.Path)
	if path == "" {
		return
	}
	keys := backupKeys(a.rel)
	list, poor := f.nameless(keys)
	if len(list) == 0 {
		list = poor // the key is better evidence
	}
	if len(list) == 0 {
		list = f.nothingNew(keys)
	}
	for _, g := range list {
		g.giveName(path)
		g.isAsked = true
	}
}

// nameOfCharacter gives a name to the only chat of a character that has none, unless it is the one that is
// suggested for a chat, as it is or as tables show it.
func (f *finder) nameOfCharacter(ctx context.Context, name string, a asked) {
	list, _ := f.nameless(backupKeys(a.rel))
	owner := ownerOf(filepath.Join(f.root.Path, filepath.FromSlash(a.rel)))
	for _, g := range list {
		g.giveName(f.placeFor(ctx, owner, g.best)) // another may have the key, too, or nobody be known who has it
	}

	path := a.path(f.root.Path)
	suggested := suggestedBy(list, userdir.ChatName(a.rel))
	switch {
	case suggested != nil:
		f.want(name, func(g *loss) bool { return g == suggested })
	case len(list) > 1:
		f.tellSeveral(name, list)
	case len(list) == 1 && path != "":
		list[0].giveName(path)
		list[0].isAsked = true
		list[0].guess = true
	}
}

// suggestedBy returns the first of several losses for whose chat a name is suggested, in any letter case; nil
// if there is none.
func suggestedBy(list []*loss, name string) *loss {
	var whole []string
	for _, g := range list {
		whole = append(whole, userdir.ChatName(g.path))
	}
	folded := names.FoldNFC(name)
	for i, g := range list {
		owner := filepath.Base(filepath.Dir(g.path))
		short := names.Shorts(owner, whole, nil)[i]
		if names.FoldNFC(whole[i]) == folded || names.FoldNFC(short) == folded {
			return g
		}
	}
	return nil
}

// nameless returns the losses of chats for which nobody has a name, and that have backups under one of the
// keys: of chats that are gone, and what is poor evidence for a chat that is there.
func (f *finder) nameless(keys []string) (gone, poor []*loss) {
	for _, g := range f.found {
		isNamed := func(v *lostVersion) bool { return v.chat != "" && !v.restored } // what was restored had a name that was made up
		isOfKey := func(v *lostVersion) bool { return slices.Contains(keys, v.key) }
		if g.isAsked || slices.ContainsFunc(g.all, isNamed) || !slices.ContainsFunc(g.all, isOfKey) {
			continue
		}
		switch {
		case g.chat.fate == isUnknown:
			gone = append(gone, g)
		case g.weak && g.chat.fate == isLive:
			poor = append(poor, g)
		}
	}
	return gone, poor
}

// nothingNew returns the losses of chats that are gone, and of which backups are left under one of the keys
// that say nothing but what other chats say, too, or a greeting.
func (f *finder) nothingNew(keys []string) (list []*loss) {
	n := len(f.found)
	slices.SortStableFunc(f.seen, func(a, b *lostVersion) int { return b.at.Compare(a.at) }) // the newest first
	for _, v := range f.seen {
		saysNothingNew := v.said != nil && v.skip && len(v.said.Texts) > 0
		if !saysNothingNew || v.chat != "" || !slices.Contains(keys, v.key) {
			continue
		}
		if f.assign(v).target < 0 {
			f.gone(v).add(v)
		}
	}

	for _, g := range f.found[n:] {
		g.best = g.last()
		list = append(list, g)
	}
	return list
}

// giveName makes a chat that is gone one that was at a path.
func (g *loss) giveName(path string) {
	g.chat = &lostChat{path: path, fate: isUnknown, of: ownerOf(path), said: g.best.said}
	g.path = path
	g.weak = false
	g.best = g.last()
}

// mostNames is how many names an error lists.
const mostNames = 5

// tellSeveral notes that a name may be that of any of several chats.
func (f *finder) tellSeveral(name string, list []*loss) {
	slices.SortStableFunc(list, func(a, b *loss) int { return cmp.Or(b.best.at.Compare(a.best.at), strings.Compare(a.path, b.path)) })
	var known []string
	for _, g := range list {
		g.isWanted = true
		suggested := visible.Quote(g.chat.of.Name + "/" + userdir.ChatName(g.path))
		if len(known) < mostNames && !slices.Contains(known, suggested) {
			known = append(known, suggested)
		}
	}

	if more := len(list) - len(known); more > 0 {
		known = append(known, fmt.Sprintf("and %d more", more))
	}
	f.answered = append(f.answered, name)
	f.errs = append(f.errs, ops.AtPath(name, fmt.Errorf("%w under its name; it may be one of %d that are gone: %s", ErrUnknown, len(list), strings.Join(known, ", "))))
}
