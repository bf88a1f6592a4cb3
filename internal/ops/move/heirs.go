package move

import (
	"cmp"
	"slices"

	"stchat/internal/family"
)

// adopt gives children of what goes the nearest ancestor that stays as their parent. Where
// that had a link to what goes, it notes the children in its place, as branches.
func adopt(n *naming) {
	var heirs []*family.Chat
	for c := range n.parent {
		n.parent[c] = ""
		for p := c.Named; p != nil && p != c; p = p.Named { // in a circle the chat itself is no parent
			if !n.gone(p) {
				n.parent[c] = p.Name
				heirs = append(heirs, c)
				break
			}
			if p.Named == nil && p.MainChat != "" && !n.gone(p) {
				n.parent[c] = p.MainChat
			}
			if p.Cycle {
				break
			}
		}
	}
	slices.SortFunc(heirs, func(a, b *family.Chat) int { return cmp.Compare(a.Name, b.Name) })
	for _, c := range heirs {
		p := n.folder.graph.Find(n.parent[c])
		if e := n.files[p.Path]; e != nil && e.loses() && !linksTo(n.folder.graph, p, c) {
			if at := family.PointOf(c.Messages, p.Messages).AtParent; at >= 0 {
				e.heirs[at] = append(e.heirs[at], c.Name)
				e.count++
			}
		}
	}
}

// linksTo reports whether a message of a chat links to another.
func linksTo(g *family.Graph, from, to *family.Chat) bool {
	return slices.ContainsFunc(from.Links, func(l family.Link) bool { return g.Find(l.Name) == to })
}
