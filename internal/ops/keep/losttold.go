package keep

import (
	"cmp"
	"context"
	"slices"
	"time"

	"stchat/internal/history"
	"stchat/internal/place/userdir"
)

// What is told of the losses, and how whole versions come back.

// documents adds the documents of the losses, those that lost the most first. given are the paths to
// which chats come back: of two that had one path, that of the history has it.
func (f *finder) documents(ctx context.Context, res *LostResult, given places) error {
	var list []*LostChat
	for _, g := range f.found {
		if f.isTold(g.chat) {
			continue
		}
		if doc := f.document(ctx, g); doc != nil {
			list = append(list, doc)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}

	for _, known := range []bool{true, false} {
		for _, doc := range list {
			if doc.row.isGone() && doc.To != "" && doc.row.best.isKnown() == known {
				f.place(doc, given)
			}
		}
	}

	slices.SortStableFunc(list, func(a, b *LostChat) int {
		return cmp.Compare(b.Lost+b.Further.Messages, a.Lost+a.Further.Messages)
	})
	for _, doc := range list {
		few := doc.Lost+doc.Further.Messages < f.opt.least()
		switch {
		case !doc.row.isGone() && few:
			res.Few = append(res.Few, doc)
		case doc.row.isGone() && few && doc.Lost == 0:
			res.LivingOn = append(res.LivingOn, doc)
		default:
			res.Chats = append(res.Chats, doc)
		}
	}
	return nil
}

// isKnown reports whether the history knows of which chat it has a version.
func (v *lostVersion) isKnown() bool { return v.stored != nil && v.of != 0 }

// place finds out where a chat that is gone comes back.
func (f *finder) place(doc *LostChat, given places) {
	v := doc.row.best
	switch {
	case v.isKnown():
		doc.Name = f.now.aside(doc.To, v.stored, given)
	case given.taken(doc.To):
		doc.To = besideOf(doc.To, freeName(doc.To, timeName(v.at), given))
	}
	given.give(doc.ComesTo())
}

// document returns the document of a loss, nil if the chat was not asked for.
func (f *finder) document(ctx context.Context, g *loss) *LostChat {
	v := g.best
	doc := &LostChat{
		Schema: 1, Ambiguous: g.ambig, Guess: g.guess, Root: f.root.Path, row: g,
		Best: LostVersion{At: v.at.Local().Format(time.RFC3339), Messages: v.said.Messages},
	}
	path := g.path
	if !f.wants(ctx, g) {
		return nil
	}
	switch {
	case !g.isGone():
		doc.LiveMessages = &g.chat.said.Messages
		doc.Lost = v.lost
		doc.Reworded = v.reworded
		doc.Further = g.further(f.opt.least())
	case v.said.Greets(g.chat.of.Kind == userdir.Group): // no loss
	default:
		doc.Lost = v.said.Missing
		doc.Further = g.further(1)
	}

	if v.path == "" {
		doc.Best.Rev = &v.stored.Rev
	} else {
		doc.Best.Path = &v.path
	}

	if path == "" && v.stored != nil {
		doc.Backup = v.stored.Path
	}
	if path != "" {
		name := userdir.ChatName(path)
		doc.Path = &path
		doc.Chat = &name
		doc.To = path
		doc.Named = g.isAsked || f.isNamed(userdir.RealPath(path))
	}

	name := f.shownOwner(g.chat.of)
	if kind, _ := userdir.KindOf(path); name == "" && kind == userdir.Group && g.isGone() {
		name = f.groupOf(ctx, doc)
		doc.Alone = name == ""
	}
	if name != "" {
		doc.Owner = &name
	}
	return doc
}

// wants reports whether the chat of a loss was asked for.
func (f *finder) wants(ctx context.Context, g *loss) bool {
	if f.means(g.path) || g.isAsked || g.isWanted {
		return true
	}
	kind, _ := userdir.KindOf(g.path)
	mayBeOfGroup := len(f.groupsAsked) > 0 && g.isGone() && kind == userdir.Group
	if !mayBeOfGroup {
		return false
	}
	doc := &LostChat{To: g.path, row: g}
	r := doc.restoring(RestoreOptions{})
	err := r.findGroup(ctx)
	return err == nil && slices.Contains(f.groupsAsked, userdir.RealPath(r.group))
}

// groupOf returns the name of the group to which a chat comes back, "" if none is known.
func (f *finder) groupOf(ctx context.Context, doc *LostChat) string {
	r := doc.restoring(RestoreOptions{})
	if err := r.findGroup(ctx); err != nil {
		return "" // the error comes again with what is brought back
	}
	return r.groupName()
}

// ComesTo returns the path under which a chat that is gone comes back.
func (c *LostChat) ComesTo() string {
	if c.Name == "" {
		return c.To
	}
	return besideOf(c.To, c.Name)
}

// RestoreLost brings back the best version of each of some chats, as one call that undo takes
// back: a chat that is gone under its name, of any other as a new chat beside it. They must be of
// a result that is not closed yet.
func RestoreLost(ctx context.Context, chats []*LostChat, opt RestoreOptions) []*RestoreResult {
	given := places{}
	for _, c := range chats {
		if c.row.isGone() {
			given.give(c.ComesTo())
		}
	}

	list := make([]*restoring, len(chats))
	for i, c := range chats {
		r := c.restoring(opt)
		list[i] = r
		if c.row.isGone() {
			r.refused = r.revive(ctx, c.ComesTo())
		} else {
			r.refused = r.fork(ctx, given)
		}
	}
	return commit(ctx, opt.Changes, list)
}

// restoring returns the best version on its way to a file.
func (c *LostChat) restoring(opt RestoreOptions) *restoring {
	f, best := c.row.in, c.row.best
	s := &subject{present: f.now, path: c.To, group: c.row.group}
	s.rel, _ = relative(s.root, c.To) // a chat of the root lies in it
	if best.stored != nil {
		s.id = best.stored.Chat
	}
	return newRestoring(s, best.version(), opt)
}

// version returns what can be read, or brought back.
func (v *lostVersion) version() *version {
	if v.stored != nil {
		return &version{Version: *v.stored}
	}
	return &version{file: v.path, Version: history.Version{At: v.at, Source: history.FromBackup, Messages: v.said.Messages}}
}
