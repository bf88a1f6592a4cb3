package family

import (
	"cmp"
	"slices"
)

// builder finds the parents in a graph, and what follows from them.
type builder struct{ g *Graph }

// declared finds the parents that names and uuids lead to, and where the chats part
// from them.
func (b builder) declared() {
	for _, c := range b.g.Chats {
		if c.MainChat == "" {
			continue
		}
		c.Named = b.g.found(c, c.MainChat)
		if c.Named == nil {
			c.Dangling = c.MainChat
			continue
		}
		c.Parent = c.Named
		c.Via = ByMainChat
	}

	b.cutCircles()
	for _, c := range b.g.Chats {
		if c.Parent != nil {
			b.g.roots[c.n] = c.Parent
		}
	}

	linking := b.linking()
	uuids := b.uuids()
	for _, c := range b.orphans() {
		switch {
		case b.adopt(c, ByLink, linking[c]):
		case c.ParentUUID != "" && b.adopt(c, ByUUID, uuids[c.ParentUUID]):
		case len(c.Groups) == 0 && c.MainChat == "":
			if name := ParentInName(c.Name); name != "" {
				b.adopt(c, ByName, []*Chat{b.g.Find(name)})
			}
		}
	}

	b.points(func(c *Chat) bool { return c.Via != "" })
}

// computed finds the parents of the chats that declare none by what their messages
// say.
func (b builder) computed(inherited func(c *Chat, depth int) bool) {
	found := partings(b.g.Chats, inherited)
	for _, c := range b.orphans() {
		p, ok := found[c]
		if !ok {
			continue
		}
		trunk := p.trunk
		for inherited(trunk, p.depth) {
			trunk = trunk.Parent
		}
		b.adopt(c, ByContent, []*Chat{trunk})
	}

	b.points(func(c *Chat) bool { return c.Via == ByContent })
}

// orphans returns the chats that still need a parent. Those that began last come
// first: where two could each be the other's parent, the older one is it.
func (b builder) orphans() []*Chat {
	var list []*Chat
	for _, c := range b.g.Chats {
		if c.Parent == nil && !c.Cycle {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *Chat) int {
		return cmp.Or(CompareDates(b.FirstDate, a.FirstDate), cmp.Compare(b.Name, a.Name))
	})
	return list
}

// adopt makes the best of the candidates that can be it a chat's parent, and reports whether
// there is one.
func (b builder) adopt(c *Chat, via Reason, candidates []*Chat) bool {
	var able []*Chat
	for _, p := range candidates {
		if b.canAdopt(p, c) && !slices.Contains(able, p) {
			able = append(able, p)
		}
	}

	if len(able) == 0 {
		return false
	}

	c.Parent = best(c, able)
	c.Via = via
	b.g.roots[c.n] = c.Parent
	return true
}

// canAdopt reports whether p, which may be nil, can be the parent of c: another chat of its owner,
// which does not come from it.
func (b builder) canAdopt(p, c *Chat) bool {
	if p == nil || p == c {
		return false
	}
	return sameOwner(p, c) && b.g.roots.find(p) != c
}

// best returns the candidate that shares most with the chat. Its own copies share as
// much and carry the same links, so of several it is the one from which they come;
// else the one that went on first.
func best(c *Chat, candidates []*Chat) *Chat {
	if len(candidates) == 1 {
		return candidates[0]
	}
	points := map[*Chat]Point{}
	for _, p := range candidates {
		points[p] = PointOf(c.Messages, p.Messages)
	}

	isCopy := func(p *Chat) bool { return p.Parent != nil && slices.Contains(candidates, p.Parent) }
	return slices.MinFunc(candidates, func(a, b *Chat) int {
		return cmp.Or(
			cmp.Compare(points[b].Shared, points[a].Shared),
			compareBool(isCopy(a), isCopy(b)),
			compareBool(a.Named != nil, b.Named != nil),
			CompareDates(nextDate(a, points[a].AtParent+1), nextDate(b, points[b].AtParent+1)),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// linking returns, for every chat, those with a link to it.
func (b builder) linking() map[*Chat][]*Chat {
	linking := map[*Chat][]*Chat{}
	for _, c := range b.g.Chats {
		for i := range c.Links {
			child := b.g.Find(c.Links[i].Name)
			if child != nil && child.Parent == nil && child != c {
				linking[child] = append(linking[child], c)
			}
		}
	}
	return linking
}

func (b builder) uuids() map[string][]*Chat {
	uuids := map[string][]*Chat{}
	for _, c := range b.g.Chats {
		if c.UUID != "" {
			uuids[c.UUID] = append(uuids[c.UUID], c)
		}
	}
	return uuids
}

// points finds where chats part from their parents, the children of one together.
func (b builder) points(wanted func(*Chat) bool) {
	children := map[*Chat][]*Chat{}
	for _, c := range b.g.Chats {
		if c.Parent != nil && wanted(c) {
			children[c.Parent] = append(children[c.Parent], c)
		}
	}

	for _, p := range b.g.Chats {
		trunk := NewTrunk(p.Messages)
		for _, c := range children[p] {
			c.Point = trunk.Point(c.Messages)
			bothSpeak := len(c.Messages) > 0 && len(p.Messages) > 0
			if c.Via != ByContent && c.Shared == 0 && bothSpeak {
				b.g.Warnings = append(b.g.Warnings, Warning{c, SharedNothing, p.Name})
			}
		}
	}
}

// cutCircles finds the chats that are their own ancestors by main_chat, and takes the
// parent from the one of each circle that began first.
func (b builder) cutCircles() {
	const fresh, onWay, done = 0, 1, 2
	state := make([]byte, len(b.g.Chats))
	var way []*Chat
	for _, c := range b.g.Chats {
		way = way[:0]
		for c != nil && state[c.n] == fresh {
			state[c.n] = onWay
			way = append(way, c)
			c = c.Parent
		}

		if c != nil && state[c.n] == onWay {
			circle := slices.Clone(way[slices.Index(way, c):])
			b.g.Circles = append(b.g.Circles, circle)
			first := slices.MinFunc(circle, func(a, b *Chat) int {
				return cmp.Or(CompareDates(a.FirstDate, b.FirstDate), cmp.Compare(a.Name, b.Name))
			})
			first.Parent = nil
			first.Via = ""
			first.Cycle = true
		}

		for _, w := range way {
			state[w.n] = done
		}
	}
}

// roots holds the root of every chat, or a chat on the way there.
type roots []*Chat

// find returns the root of a chat's family as far as it is known, and shortens the
// way there.
func (r roots) find(c *Chat) *Chat {
	root := c
	for r[root.n] != root {
		root = r[root.n]
	}

	for c != root {
		next := r[c.n]
		r[c.n] = root
		c = next
	}
	return root
}

// order fills in what follows from the parents.
func (b builder) order() {
	marked := map[*Chat]bool{}
	for _, c := range b.g.Chats {
		if c.Parent != nil {
			c.Parent.Children = append(c.Parent.Children, c)
		}
		for i := range c.Links {
			l := &c.Links[i]
			child := b.g.found(c, l.Name)
			if child == nil {
				continue
			}
			if l.Kind == Checkpoint {
				marked[child] = true
			}
			if child.Parent == c && (child.AtLink < 0 || l.Index == child.AtParent) {
				child.AtLink = l.Index
			}
		}
	}

	for _, c := range b.g.Chats {
		switch {
		case c.Parent == nil:
			c.Role = Root
		case marked[c] || endsAsCheckpoint(c.Name):
			c.Role = CheckpointRole
		case c.Via == ByContent && c.Own() == 0 && c.Edited() == 0:
			c.Role = Copy
		default:
			c.Role = BranchRole
		}

		slices.SortStableFunc(c.Children, func(a, b *Chat) int {
			return cmp.Or(cmp.Compare(a.At, b.At), CompareDates(a.ownDate(), b.ownDate()), cmp.Compare(a.Name, b.Name))
		})
	}
}

// number numbers the chats in a walk through all families: a chat is an ancestor of those
// whose first lies between its own first and end.
func (b builder) number() {
	var walked []*Chat
	for _, root := range b.g.Roots() {
		Walk(root, func(c *Chat, _ int) {
			c.first = len(walked)
			c.end = c.first + 1
			walked = append(walked, c)
		})
	}

	for _, c := range slices.Backward(walked) {
		if c.Parent != nil {
			c.Parent.end = max(c.Parent.end, c.end)
		}
	}
}
