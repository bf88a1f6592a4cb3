package move

import (
	"cmp"
	"slices"

	"stchat/internal/family"
	"stchat/internal/group"
	"stchat/internal/names"
)

// instead settles which chat a card or a group has open in place of one that goes, and
// notes it in that chat's result: its parent, else the one of the owner that was last
// changed, else a name that the group lists without a file, else in a group a fresh one.
func instead(n *naming, goes []*family.Chat, results []*Result) {
	g := n.folder.graph
	note := func(i int, path, name string) {
		if name != "" {
			n.open[path], results[i].Doc.Opened = name, &name
		}
	}
	for i, c := range goes {
		if g.Card != nil && g.IsOpenInCard(c) {
			note(i, g.Card.Path, n.heir(c, goes, nil))
		}
		for _, f := range g.Groups {
			if slices.Contains(c.Groups, f.Path) && g.IsOpenIn(f, c) {
				note(i, f.Path, cmp.Or(n.heir(c, goes, f), n.lastListed(f, goes), names.Humanized(n.folder.opt.Now)))
			}
		}
	}
}

// heir returns the nearest ancestor of a chat that stays, else the chat that was last
// changed of those that stay, in a group of those it lists; "" where none does.
func (n *naming) heir(c *family.Chat, goes []*family.Chat, in *group.File) string {
	stays := func(c *family.Chat) bool {
		return !slices.Contains(goes, c) && (in == nil || slices.Contains(c.Groups, in.Path))
	}
	for p := c.Parent; p != nil; p = p.Parent {
		if stays(p) {
			return p.Name
		}
	}
	var last *family.Chat
	for _, other := range n.folder.graph.Chats {
		if stays(other) && other.Err == nil && (last == nil || other.Stamp.Info().ModTime().After(last.Stamp.Info().ModTime())) {
			last = other
		}
	}
	if last == nil {
		return ""
	}
	return last.Name
}

// lastListed returns the last name in a group's list that is none of those that go, ""
// where there is none.
func (n *naming) lastListed(f *group.File, goes []*family.Chat) string {
	for _, name := range slices.Backward(f.Chats) {
		if c := n.folder.graph.Find(name); name != "" && !slices.Contains(goes, c) {
			return name
		}
	}
	return ""
}
