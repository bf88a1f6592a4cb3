package family

import "slices"

// missing looks for the chats that a name which leads nowhere may stand for.
type missing struct {
	g    *Graph
	safe string // the name, made safe
}

// is reports whether a name in a file is the one that is missing.
func (m missing) is(written string) bool { return written != "" && safeName(written) == m.safe }

func (m missing) candidates() []*Chat {
	var linking, trunks, children []*Chat
	add := func(list *[]*Chat, c *Chat) {
		if !slices.Contains(*list, c) {
			*list = append(*list, c)
		}
	}
	var kin map[*Chat]parting
	for _, c := range m.g.Chats {
		if m.is(c.MainChat) {
			for _, p := range m.linkers(c) {
				if !m.is(p.MainChat) {
					add(&linking, p)
				}
			}
			if kin == nil {
				kin = m.kinWithout()
			}
			if trunk := m.trunkFor(c, kin); trunk != nil {
				add(&trunks, trunk)
			}
		}
		for _, l := range c.Links {
			if m.is(l.Name) {
				for _, child := range m.namelessAt(c, l.Index) {
					add(&children, child)
				}
			}
		}
	}
	switch {
	case len(linking) > 0:
		// the children of the one that is meant carry its links
		return slices.DeleteFunc(linking, func(c *Chat) bool {
			return c.Via != ByContent && slices.Contains(linking, c.Parent)
		})
	case len(children) > 0:
		return children
	default:
		return trunks
	}
}

// linkers returns the chats that link a chat at their last shared message.
func (m missing) linkers(c *Chat) []*Chat {
	var list []*Chat
	for _, p := range m.g.Chats {
		if p == c || !sameOwner(p, c) {
			continue
		}
		for _, l := range p.Links {
			if m.g.Find(l.Name) == c {
				if point := PointOf(c.Messages, p.Messages); point.At >= 0 && point.AtParent == l.Index {
					list = append(list, p)
					break
				}
			}
		}
	}
	return list
}

// kinWithout finds the trunks by content; chats that name the missing one are none
// where others are, nor are chats where their messages are their parents'.
func (m missing) kinWithout() map[*Chat]parting {
	return partings(m.g.Chats, func(c *Chat, depth int) bool { return m.is(c.MainChat) || c.inherited(depth) })
}

// trunkFor returns the nearest trunk that can be a chat's missing parent.
func (m missing) trunkFor(c *Chat, kin map[*Chat]parting) *Chat {
	for p, ok := kin[c]; ok; p, ok = kin[p.trunk] {
		trunk := p.trunk
		for trunk.inherited(p.depth) {
			trunk = trunk.Parent
		}
		if trunk != c && !m.is(trunk.MainChat) && !m.above(c, trunk) {
			return trunk
		}
	}
	return nil
}

// above reports whether a chat is among the declared ancestors of another.
func (m missing) above(c, other *Chat) bool {
	for p := other; p != nil && p.Via != ByContent; p = p.Parent {
		if p.Parent == c {
			return true
		}
	}
	return false
}

// namelessAt returns the chats that name a chat as their parent, part from it at a
// message, and have no link there by their own name.
func (m missing) namelessAt(p *Chat, index int) []*Chat {
	var list []*Chat
	for _, c := range m.g.Chats {
		if c.Named == p && c.AtLink < 0 && c.At >= 0 && c.AtParent == index {
			list = append(list, c)
		}
	}
	return list
}
