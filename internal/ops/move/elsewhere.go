package move

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/family"
	"stchat/internal/group"
	"stchat/internal/library"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// ElsewhereOptions says which chats move to another owner.
type ElsewhereOptions struct {
	Options
	Chats  []string // of one owner
	Owner  string
	Family bool   // move all relatives, too
	Cut    bool   // give up kinship with those that stay
	Name   string // the new name, of a single chat; "": its own
}

// ErrKind means that a chat was to move from a character to a group, or the other way round.
var ErrKind = errors.New("a character's chat cannot become a group's, nor a group's a character's; SillyTavern's own conversion makes a new chat")

// ErrSameOwner means that a chat already belongs to the owner it was to move to.
var ErrSameOwner = errors.New("it is this owner's already")

// Elsewhere moves chats to another character or group. It returns a result for each chat
// moved, or only the first one's if that fails.
func Elsewhere(ctx context.Context, opt ElsewhereOptions) []*Result {
	first := newResult(opt.Chats[0])
	results := []*Result{first}
	run(ctx, &opt.Options, first, func(ctx context.Context, s *changeset.Set) error {
		f, err := read(ctx, &opt.Options, folderOf(opt.Chats[0]))
		if err != nil {
			return err
		}
		to, err := ownerOf(f.lib, opt.Owner, opt.Data)
		if err != nil {
			return err
		}
		n := newNaming(f, first)
		n.elsewhere = to
		goes, err := going(n, &opt)
		if err != nil {
			return err
		}
		if err := judgeOwner(n, goes, to); err != nil {
			return err
		}
		for i, c := range goes {
			r := first
			if i > 0 {
				r = newResult(c.Path)
				results = append(results, r)
			}
			path := n.path[c]
			r.Doc.From, r.Doc.To = c.Path, &path
		}
		instead(n, goes, results)
		n.collect()
		cut(n, goes)
		unreachable(first)
		if err := noteSpeakers(ctx, n, goes); err != nil {
			return ops.PathError(err)
		}
		if err := (drafter{n, s}).draft(ctx); err != nil {
			return err
		}
		if err := draftEntries(ctx, n, s); err != nil {
			return err
		}
		if err := join(n, goes, to, s); err != nil {
			return ops.PathError(err)
		}
		return draftPins(n, s)
	})
	return together(first, results[1:])
}

// going returns the chats that move, and notes their names and paths. The error wraps
// [ErrRelatives] if relatives would stay behind without opt.Cut.
func going(n *naming, opt *ElsewhereOptions) (goes []*family.Chat, err error) {
	known := map[*family.Chat]bool{}
	add := func(c *family.Chat) {
		if !known[c] {
			known[c] = true
			goes = append(goes, c)
		}
	}
	for _, path := range opt.Chats {
		if userdir.RealPath(folderOf(path)) != userdir.RealPath(n.folder.path) {
			return nil, fmt.Errorf("%s: chats of one owner at a time", path)
		}
		c, err := n.folder.find(path)
		if err != nil {
			return nil, err
		}
		add(c)
		if opt.Family {
			family.Walk(n.folder.graph.Root(c), func(c *family.Chat, _ int) { add(c) })
		}
	}
	for _, c := range goes {
		name := c.Name
		if opt.Name != "" {
			if name, err = names.New(strings.TrimSuffix(opt.Name, names.Extension), names.MaxBytes); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrName, err)
			}
		}
		folder := n.elsewhere.folder
		if n.elsewhere.group != nil {
			folder = filepath.Dir(c.Path) // the chats of all groups are in one folder
		}
		n.to[c], n.path[c] = name, filepath.Join(folder, name+names.Extension)
	}
	if opt.Cut {
		return goes, nil
	}
	references, at := n.references()
	for _, c := range goes {
		if left := relative(n, c, references[c], at); left != nil {
			return nil, fmt.Errorf("%s: %w: %s", c.Path, ErrRelatives, left.Path)
		}
	}
	return goes, nil
}

// relative returns a chat that stays behind and that c names, or that names c; nil for none.
func relative(n *naming, c *family.Chat, references []family.Reference, at map[string]*family.Chat) *family.Chat {
	stays := func(other *family.Chat) bool { return other != nil && n.stays(other) }
	if stays(c.Named) {
		return c.Named
	}
	for _, l := range c.Links {
		if other := n.folder.graph.Find(l.Name); stays(other) {
			return other
		}
	}
	for _, ref := range references {
		if other := at[ref.Path]; stays(other) {
			return other
		}
	}
	return nil
}

// judgeOwner refuses an owner of another kind or of another user, and names that are taken.
func judgeOwner(n *naming, goes []*family.Chat, to *owner) error {
	from := n.folder.graph.Folder
	switch {
	case !from.HasDir || from.Kind == userdir.File:
		return fmt.Errorf("%s: %w", goes[0].Path, ErrNoOwner)
	case n.folder.isGroup() != (to.group != nil):
		return fmt.Errorf("%s: %w", goes[0].Path, ErrKind)
	case userdir.RealPath(from.Dir.Root) != userdir.RealPath(to.dir.Root):
		return fmt.Errorf("%s: %w: it is another user's", to.folder, ErrOwner)
	case to.group == nil && userdir.RealPath(to.folder) == userdir.RealPath(n.folder.path):
		return fmt.Errorf("%s: %w", goes[0].Path, ErrSameOwner)
	}
	there, err := to.chats(new(library.Library))
	if err != nil {
		return err
	}
	n.noFolder = there.Err != nil
	taken := map[string]string{}
	for _, name := range there.Chats {
		taken[names.Fold(name)] = name
	}
	if to.group != nil {
		for _, name := range to.group.Chats {
			taken[names.Fold(name)] = name
		}
	}
	for _, c := range goes {
		if to.group != nil && slices.Contains(c.Groups, to.group.Path) {
			return fmt.Errorf("%s: %w", c.Path, ErrSameOwner)
		}
		by, ok := taken[names.Fold(n.to[c])]
		if ok && n.path[c] != c.Path {
			return fmt.Errorf("%q %w: there is a chat %q", n.to[c], ErrTaken, by)
		}
		taken[names.Fold(n.to[c])] = n.to[c]
		if left := there.Sidecars(n.to[c]); to.group == nil && len(left) > 0 {
			return fmt.Errorf("%s: %w", left[0].Path, ErrLeftover)
		}
	}
	return nil
}

// cut removes from chats that go the names of chats that stay.
func cut(n *naming, goes []*family.Chat) {
	for _, c := range goes {
		stays := func(name string) bool {
			other := n.folder.graph.Find(name)
			return other != nil && n.stays(other) // otherwise it dangles before and after, or moves along
		}
		if c.MainChat != "" && stays(c.MainChat) {
			e := n.file(c.Path, c)
			e.name(family.Header, c.MainChat, "")
			e.own = n.to[c]
			n.parent[c] = ""
			n.r.Warn("%s: main_chat %q is removed: that chat stays behind", c.Path, c.MainChat)
		}
		for _, l := range c.Links {
			if stays(l.Name) {
				n.file(c.Path, c).name(l.Index, l.Name, "")
				n.r.Warn("%s: the link to %q on message %d is removed: that chat stays behind", c.Path, l.Name, l.Index)
			}
		}
	}
}

// join adds the chats to the list of their new group, if it is one.
func join(n *naming, goes []*family.Chat, to *owner, s *changeset.Set) error {
	if to.group == nil {
		return nil
	}
	var list []string
	for _, c := range goes {
		list = append(list, n.to[c])
	}
	n.r.Doc.Edits = append(n.r.Doc.Edits, Edited{to.group.Path, "names", len(list)})
	return s.Edit(to.group.Path, safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) {
		g, err := group.Parse(to.group.Path, old)
		if err != nil {
			return nil, err
		}
		return g.WithChats(list...)
	}), "the chats in the group's list")
}
