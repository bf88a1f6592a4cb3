package family

import (
	"cmp"
	"slices"

	"stchat/internal/folder/library"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/group"
)

// Names finds the chat to which a name in a file leads; [library.Folder] implements it.
type Names interface {
	Target(name string) (chat string, ok bool)
}

// Evidence selects how parents are found.
type Evidence int

// The two ways.
const (
	ByLinks       Evidence = iota // what is declared, and by content where nothing is
	ByContentOnly                 // only what the messages say
)

// Graph is the chats of one folder and how they are related.
type Graph struct {
	Chats    []*Chat
	Circles  [][]*Chat // chats whose main_chats lead in a circle, each circle once
	Warnings []Warning

	Folder *library.Folder // set by Read
	Groups []*group.File   // of the user folder, where the chats are group chats
	Card   *card.Card      // of the character, where it can be read
	NoCard error           // why it cannot; [card.ErrMissing] where there is none

	names  Names
	byName map[string]*Chat
	known  map[string]*Chat // what names lead to
	roots  roots
}

// Warning is something about kinship that the user should be told.
type Warning struct {
	Chat *Chat
	Kind WarningKind
	Name string // that it is about
}

// WarningKind is what a warning is about.
type WarningKind int

// The warnings.
const (
	LetterCase    WarningKind = iota // a name differs from the chat it leads to in letter case
	SharedNothing                    // a declared parent has none of the chat's messages
)

// New judges the chats of one folder. They keep their order; a name that two of them have
// means the first.
func New(names Names, chats []*Chat, by Evidence) *Graph {
	g := &Graph{
		Chats:  chats,
		names:  names,
		byName: make(map[string]*Chat, len(chats)),
		known:  map[string]*Chat{},
		roots:  make(roots, len(chats)),
	}

	for i, c := range chats {
		c.n = i
		if c.FirstDate == 0 {
			c.FirstDate = firstDate(c.Messages)
		}
		c.Kin = Kin{Point: Point{-1, -1, 0}, AtLink: -1}
		g.roots[i] = c
		if g.byName[c.Name] == nil {
			g.byName[c.Name] = c
		}
	}

	b := builder{g}
	if by == ByLinks {
		b.declared()
		b.computed((*Chat).inherited)
	} else {
		b.computed(func(*Chat, int) bool { return false })
	}

	b.order()
	b.number()
	return g
}

// Again judges the same chats by links, after the names in them were changed. It does
// not look up anew what else names them.
func (g *Graph) Again() *Graph { return New(g.names, g.Chats, ByLinks) }

// Find returns the chat to which a name in a file leads, nil where there is none.
func (g *Graph) Find(name string) *Chat {
	c, ok := g.known[name]
	if !ok {
		if target, found := g.names.Target(name); found {
			c = g.byName[target]
		}
		g.known[name] = c
	}
	return c
}

// found is Find for a name that a chat uses; it warns of a different letter case.
func (g *Graph) found(from *Chat, name string) *Chat {
	c := g.Find(name)
	if c == nil || !sameOwner(from, c) {
		return nil
	}
	if names.OnDisk(name) != c.Name && name != c.Name {
		g.Warnings = append(g.Warnings, Warning{from, LetterCase, name})
	}
	return c
}

// Current reports whether a chat is the one that is open in its card or group.
func (g *Graph) Current(c *Chat) bool {
	if g.IsOpenInCard(c) {
		return true
	}
	return slices.ContainsFunc(g.Groups, func(f *group.File) bool {
		return slices.Contains(c.Groups, f.Path) && g.IsOpenIn(f, c)
	})
}

// IsOpenInCard reports whether a chat is the one that is open in its character's card.
func (g *Graph) IsOpenInCard(c *Chat) bool {
	return g.Card != nil && g.Card.Chat != "" && g.Find(g.Card.Chat) == c
}

// IsOpenIn reports whether a chat is the one that is open in a group.
func (g *Graph) IsOpenIn(f *group.File, c *Chat) bool { return f.ChatID != "" && g.Find(f.ChatID) == c }

// Roots returns the chats without a parent, in the order of the chats.
func (g *Graph) Roots() []*Chat {
	var roots []*Chat
	for _, c := range g.Chats {
		if c.Parent == nil {
			roots = append(roots, c)
		}
	}
	return roots
}

// Root returns the root of a chat's family.
func (g *Graph) Root(c *Chat) *Chat { return g.roots.find(c) }

// Eldest returns the chat from which the others come: one that has none of the others
// among its ancestors, names no parent, and began first.
func (g *Graph) Eldest(chats []*Chat) *Chat {
	walked := slices.Clone(chats)
	slices.SortFunc(walked, func(a, b *Chat) int { return cmp.Compare(a.first, b.first) })
	below := make(map[*Chat]bool, len(chats))
	end := 0
	for _, c := range walked {
		below[c] = c.first < end
		end = max(end, c.end)
	}

	return slices.MinFunc(chats, func(a, b *Chat) int {
		return cmp.Or(
			compareBool(below[a], below[b]),
			compareBool(a.MainChat != "", b.MainChat != ""),
			CompareDates(a.FirstDate, b.FirstDate),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// ReferencesTo returns the places that name each of the chats that are wanted. Every place is looked
// at once, however many these are.
func (g *Graph) ReferencesTo(wanted func(*Chat) bool) map[*Chat][]Reference {
	found := map[*Chat][]Reference{}
	g.places(func(in *group.File, r Reference) {
		c := g.Find(r.Name)
		switch {
		case c == nil || !wanted(c):
		case r.Kind == Recap && r.From != c: // data of another chat is not looked at by that name
		case r.From != nil && !sameOwner(r.From, c):
		case in != nil && len(c.Groups) > 0 && !slices.Contains(c.Groups, in.Path):
		default:
			found[c] = append(found[c], r)
		}
	})
	return found
}

// places calls do with every place that names some chat, and the group file that it is in.
func (g *Graph) places(do func(in *group.File, r Reference)) {
	for _, c := range g.Chats {
		place := func(index int, kind Kind, name string) {
			if name != "" {
				do(nil, Reference{c.Path, c, index, kind, name})
			}
		}
		place(Header, Parent, c.MainChat)
		place(Header, Recap, c.Recap)
		for _, l := range c.Links {
			place(l.Index, l.Kind, l.Name)
		}
	}

	if g.Card != nil && g.Card.Chat != "" {
		do(nil, Reference{g.Card.Path, nil, NoLine, Open, g.Card.Chat})
	}

	for _, f := range g.Groups {
		place := func(kind Kind, name string) {
			if name != "" {
				do(f, Reference{f.Path, nil, NoLine, kind, name})
			}
		}
		for _, name := range f.Chats {
			place(Listed, name)
			if _, ok := f.OldMetadata(name); ok && name != f.ChatID {
				place(OldMetadata, name)
			}
		}
		place(Open, f.ChatID)
	}
}

// Renamed returns the chats that a missing name may stand for, since they were renamed: a
// single one is the answer, several are ambiguous. None of them names the missing one itself, as its
// parent or in a link. A chat's parent is looked for among those that link the chat at their last
// shared message, else it is the one trunk by content. A child that a message links by the missing
// name is looked for among the chats that name the message's chat as their parent, part from
// it there, and have no link of their own.
func (g *Graph) Renamed(name string) []*Chat {
	if g.Find(name) != nil {
		return nil
	}
	return missing{g, names.OnDisk(name)}.candidates()
}

// Walk calls do for every chat of a family, each before its children, which come in
// their order. depth is 0 for the root.
func Walk(root *Chat, do func(c *Chat, depth int)) {
	type step struct {
		chat  *Chat
		depth int
	}
	way := []step{{root, 0}}
	for len(way) > 0 {
		s := way[len(way)-1]
		way = way[:len(way)-1]
		do(s.chat, s.depth)
		for _, child := range slices.Backward(s.chat.Children) {
			way = append(way, step{child, s.depth + 1})
		}
	}
}
