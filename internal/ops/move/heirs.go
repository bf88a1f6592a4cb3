package move

import (
	"cmp"
	"slices"

	"stchat/internal/family"
)

// adopt makes the nearest ancestor that stays the parent of the children of what goes. If
// that ancestor loses a link, it lists the children as branches instead.
func adopt(n *naming) {
	var heirs []*family.Chat
	for c := range n.parent {
		n.parent[c] = ""
		for p := c.Named; p != nil && p != c; p = p.Named { // in a cycle the chat itself is no parent
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
	noters := map[*family.Chat]*noter{}
	for _, c := range heirs {
		p := n.folder.graph.Find(n.parent[c])
		by := noters[p]
		if by == nil {
			by = newNoter(n, p)
			noters[p] = by
		}
		by.note(c)
	}
}

// noter lists children as branches in a parent that loses a link.
type noter struct {
	file   *fileEdit // nil: the parent loses none
	linked map[*family.Chat]bool
	trunk  *family.Trunk
}

func newNoter(n *naming, p *family.Chat) *noter {
	e := n.files[p.Path]
	if e == nil || !e.loses() {
		return &noter{}
	}
	linked := map[*family.Chat]bool{}
	for _, l := range p.Links {
		linked[n.folder.graph.Find(l.Name)] = true
	}
	return &noter{e, linked, family.NewTrunk(p.Messages)}
}

// note lists a child on the message where it parts, unless the parent has a link to it.
func (by *noter) note(c *family.Chat) {
	if by.file == nil || by.linked[c] {
		return
	}
	if at := by.trunk.Point(c.Messages).AtParent; at >= 0 {
		by.file.heirs[at] = append(by.file.heirs[at], c.Name)
		by.file.count++
	}
}
