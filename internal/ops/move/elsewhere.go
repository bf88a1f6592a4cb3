package move

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/group"
)

// OwnerOptions says which chats move to another owner.
type OwnerOptions struct {
	Options
	Chats  []string // of one owner
	Owner  string
	Family bool   // move all relatives, too
	Cut    bool   // give up kinship with those that stay
	Name   string // the new name, of a single chat; "": its own
}

// ErrKind means that a chat was to move from a character to a group, or the other way round.
var ErrKind = error(&ops.Kind{Code: "refused", Text: "a character's chat cannot become a group's, nor a group's a character's", Hint: "copy"})

// ErrSameOwner means that a chat already belongs to the owner it was to move to.
var ErrSameOwner = error(&ops.Kind{Code: "refused", Text: "it is this owner's already"})

// ErrOtherUser means that the owner to which a chat was to move is in another user folder.
var ErrOtherUser = error(&ops.Kind{Code: "refused", Text: "it is another user's, and chats move within one user folder"})

// Move moves chats to another character or group. It returns a result for each chat
// moved, or only the first one's if that fails.
func Move(ctx context.Context, opt OwnerOptions) []*Result {
	return change(ctx, &opt.Options, opt.Chats[0], func(n *renameSet) (err error) {
		if n.elsewhere, err = address.OwnerOf(n.lib, opt.Owner, cmp.Or(opt.Data, n.graph.Folder.Dir.Root)); err != nil {
			return err
		}
		if err := judgeOwner(ctx, n, opt.Chats); err != nil {
			return err // before its relatives are: their going along would not help
		}
		goes, err := going(ctx, n, &opt)
		if err != nil {
			return err
		}
		if err := judgeThere(n, goes); err != nil {
			return err
		}
		n.r.Doc.From = goes[0].Path
		n.begin(goes)
		n.chooseOpen()
		n.collect()
		cut(n, goes)
		return noteSpeakers(ctx, n, goes)
	})
}

// going returns the chats that move, and notes their names and paths. The error wraps
// [ErrRelatives] if relatives would stay behind without opt.Cut.
func going(ctx context.Context, n *renameSet, opt *OwnerOptions) (goes []*family.Chat, err error) {
	var above func(*family.Chat) *family.Chat
	if opt.Family {
		above = n.graph.Root
	}
	if goes, err = n.chosen(ctx, opt.Chats, above); err != nil {
		return nil, err
	}
	for _, c := range goes {
		n.to[c] = c.Name
		if opt.Name == "" {
			continue
		}
		if n.to[c], err = newName(opt.Name, names.Extension, names.MaxBytes); err != nil {
			return nil, err
		}
	}

	if opt.Cut {
		return goes, nil
	}
	references := n.graph.ReferencesTo(func(c *family.Chat) bool { return !n.stays(c) })
	for _, c := range goes {
		if left := relative(n, c, references[c]); left != nil {
			return nil, fmt.Errorf("%s: %w: %s", c.Path, ErrRelatives, left.Path)
		}
	}
	return goes, nil
}

// relative returns a chat that stays behind and that c names, or that names c; nil for none.
func relative(n *renameSet, c *family.Chat, references []family.Reference) *family.Chat {
	stays := func(other *family.Chat) bool { return other != nil && n.stays(other) }
	if stays(c.Named) {
		return c.Named
	}
	for _, l := range c.Links {
		if other := n.graph.Find(l.Name); stays(other) {
			return other
		}
	}

	for _, ref := range references {
		if stays(ref.From) {
			return ref.From
		}
	}
	return nil
}

// judgeOwner refuses chats of several owners, and to move them to an owner of another kind or of another
// user, or to the one whose they are. paths are those of the chats.
func judgeOwner(ctx context.Context, n *renameSet, paths []string) error {
	from, to := n.graph.Folder, n.elsewhere
	here := userdir.RealPath(n.folder.path)
	for _, path := range paths {
		if userdir.RealPath(filepath.Dir(path)) != here {
			return fmt.Errorf("%s: chats of one owner at a time", path)
		}
	}

	switch {
	case !from.HasDir || from.Kind == userdir.File:
		return fmt.Errorf("%s: %w", paths[0], ErrNoOwner)
	case n.isGroup() != (to.Group != nil):
		return fmt.Errorf("%s: %w", paths[0], ErrKind)
	case userdir.RealPath(from.Dir.Root) != userdir.RealPath(to.Dir.Root):
		return fmt.Errorf("%s: %w", to.Folder, ErrOtherUser)
	case to.Group == nil && userdir.RealPath(to.Folder) == here:
		return fmt.Errorf("%s: %w", paths[0], ErrSameOwner)
	}

	chats, err := n.chosen(ctx, paths, nil)
	if err != nil {
		return err
	}
	return notTheirs(to, chats)
}

// notTheirs refuses chats that are in the list of the group to which they are to move.
func notTheirs(to *address.Owner, chats []*family.Chat) error {
	for _, c := range chats {
		if to.Group != nil && slices.Contains(c.Groups, to.Group.Path) {
			return fmt.Errorf("%s: %w", c.Path, ErrSameOwner)
		}
	}
	return nil
}

// judgeThere refuses names that are taken where the chats go, and relatives that are there already.
func judgeThere(n *renameSet, goes []*family.Chat) error {
	to := n.elsewhere
	if err := notTheirs(to, goes); err != nil {
		return err
	}
	there, err := to.Chats(new(library.Library))
	if err != nil {
		return err
	}
	n.noFolder = there.Err != nil
	taken := takenAt(to, there)
	for _, c := range goes {
		if err := taken.claim(n.to[c]); err != nil && n.path(c) != c.Path {
			return err
		}
		if to.Group != nil {
			continue
		}
		if err := leftOver(there, n.to[c]); err != nil {
			return err
		}
	}
	return nil
}

// cut removes from chats that go the names of chats that stay.
func cut(n *renameSet, goes []*family.Chat) {
	for _, c := range goes {
		stays := func(name string) bool {
			other := n.graph.Find(name)
			return other != nil && n.stays(other) // otherwise it dangles before and after, or moves along
		}
		if c.MainChat != "" && stays(c.MainChat) {
			n.edits.Name(family.Reference{Path: c.Path, From: c, Index: family.Header, Kind: family.Parent, Name: c.MainChat}, "")
			n.edits.Name(family.Reference{Path: c.Path, From: c, Index: family.Header, Kind: family.Recap}, n.to[c])
			n.r.WarnOf(ops.Fact{Kind: ops.FactParentCut, Path: c.Path, Name: c.MainChat}, "%s: main_chat %q is removed: that chat stays behind", c.Path, c.MainChat)
		}

		for _, l := range c.Links {
			if stays(l.Name) {
				n.edits.Name(family.Reference{Path: c.Path, From: c, Index: l.Index, Kind: l.Kind, Name: l.Name}, "")
				n.r.WarnOf(ops.Fact{Kind: ops.FactLinkCut, Path: c.Path, Name: l.Name}, "%s: the link to %q on message %d is removed: that chat stays behind", c.Path, l.Name, l.Index)
			}
		}
	}
}

// join adds the chats that move to the list of their new group, if it is one.
func (n *renameSet) join() error {
	if n.elsewhere == nil || n.elsewhere.Group == nil {
		return nil
	}
	g := n.elsewhere.Group
	var list []string
	for _, c := range n.goes {
		list = append(list, n.to[c])
	}
	n.r.Doc.edited(g.Path, "names", len(list))
	return group.List(n.s, g.Path, "the chats in the group's list", false, list...)
}

// noteSpeakers notes which of the chats that go to another character have no message with
// that character's name.
func noteSpeakers(ctx context.Context, n *renameSet, goes []*family.Chat) error {
	if n.elsewhere.Group != nil {
		return nil
	}
	for _, c := range goes {
		speaks, err := n.speaks(ctx, c)
		if err != nil {
			return err
		}
		if !speaks {
			n.r.Tell(ops.Fact{Kind: ops.FactSpeakers, Path: c.Path, Name: n.elsewhere.Name})
		}
	}
	return nil
}

// speaks reports whether a chat has a message with the name of its new owner, or no messages at all.
func (n *renameSet) speaks(ctx context.Context, c *family.Chat) (found bool, err error) {
	if len(c.Messages) == 0 {
		return true, nil
	}
	open, err := chat.Open(ctx, c.Path, chat.Options{Groups: n.lib})
	if err != nil {
		return false, err
	}
	defer open.Close()
	named := choose.Choice{Filter: choose.Filter{Names: []string{n.elsewhere.Name}}, First: 1}
	_, err = named.Scan(ctx, choose.SourceOf(open), func(choose.Place) error {
		found = true
		return nil
	})
	return found, err
}
