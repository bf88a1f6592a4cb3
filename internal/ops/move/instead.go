package move

import (
	"cmp"
	"slices"

	"stchat/internal/family"
	"stchat/internal/names"
)

// instead decides which chat a card or a group opens with in place of one that goes, and
// notes it in that chat's result: the nearest ancestor that stays, else the owner's chat
// last changed, else, in a group, the last name in its list that stays or a fresh one.
func instead(n *naming, goes []*family.Chat, results []*Result) {
	g := n.folder.graph
	note := func(i int, path, name string) {
		if name != "" {
			n.open[path], results[i].Doc.Opened = name, &name
		}
	}
	for i, c := range goes {
		if g.Card != nil && g.IsOpenInCard(c) {
			note(i, g.Card.Path, n.heir(c, nil))
		}
		for _, f := range g.Groups {
			if slices.Contains(c.Groups, f.Path) && g.IsOpenIn(f, c) {
				note(i, f.Path, cmp.Or(n.heir(c, f), n.lastListed(f), names.Humanized(n.folder.opt.Changes.Now)))
			}
		}
	}
}
