package look

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"stchat/internal/folder/family"
	"stchat/internal/place/sendate"
	"stchat/internal/place/userdir"
	"stchat/internal/show/treeview"
)

// treeBuilder builds a tree from graphs.
type treeBuilder struct {
	TreeOptions
	families []*familyRow
	shown    map[*family.Chat]*treeview.Chat
	order    []*family.Chat // the chats that are shown, in their order
	summary  treeview.Summary

	wholeTexts bool // Texts are those of all own messages, and not cut
}

// familyRow is a family that is shown.
type familyRow struct {
	graph *family.Graph
	owner string
	chats []*family.Chat // in the order in which they are shown
	depth []int
	rank  int // of its owner among those that are shown

	name string
	last int64 // when the last message was sent
}

// add adds the families of a folder that are shown.
func (b *treeBuilder) add(g *family.Graph, a *asked) {
	if b.Up {
		for _, c := range g.Chats {
			if a.paths[filepath.Base(c.Path)] {
				b.ancestors(g, c)
			}
		}
		return
	}

	wanted := map[*family.Chat]bool{}
	for _, c := range g.Chats {
		if a.paths[filepath.Base(c.Path)] {
			wanted[g.Root(c)] = true
		}
	}

	for _, root := range g.Roots() {
		if !a.all && !wanted[root] {
			continue
		}
		alone := len(root.Children) == 0
		remarkable := root.Dangling != "" || root.Cycle || root.Err != nil
		k := &familyRow{graph: g}
		family.Walk(root, k.add)
		b.count(k)
		if alone && !remarkable {
			b.summary.Alone++
		} else if !alone {
			b.summary.Families++
		}

		if !alone || remarkable || b.All || !a.all {
			b.show(k)
		}
	}
}

// ancestors adds one chat with its ancestors.
func (b *treeBuilder) ancestors(g *family.Graph, c *family.Chat) {
	k := &familyRow{graph: g}
	var way []*family.Chat
	for p := c; p != nil; p = p.Parent {
		way = append(way, p)
	}
	for depth, p := range slices.Backward(way) {
		k.add(p, len(way)-1-depth)
	}
	b.count(k)
	if len(k.chats) > 1 {
		b.summary.Families++
	} else {
		b.summary.Alone++
	}

	b.show(k)
}

func (k *familyRow) add(c *family.Chat, depth int) {
	k.chats, k.depth = append(k.chats, c), append(k.depth, depth)
	if k.name == "" {
		k.name = c.Name
	}
	k.last = max(k.last, c.LastDate())
}

func (b *treeBuilder) count(k *familyRow) {
	b.summary.Chats += len(k.chats)
	for _, c := range k.chats {
		if c.Dangling != "" {
			b.summary.Dangling++
		}
		if c.Cycle {
			b.summary.Cycles++
		}
	}
}

// show adds a family.
func (b *treeBuilder) show(k *familyRow) {
	k.owner = ownerOf(k.graph, k.chats)
	b.families = append(b.families, k)
}

// ownerOf returns the name of a family's owner: the character's folder, or the first group
// that lists one of the chats.
func ownerOf(g *family.Graph, chats []*family.Chat) string {
	switch g.Folder.Kind {
	case userdir.Solo:
		return g.Folder.Owner
	case userdir.Group:
		for _, c := range chats {
			for _, f := range g.Groups {
				if slices.Contains(c.Groups, f.Path) {
					return f.Name
				}
			}
		}
		return "no group"
	}
	if abs, err := filepath.Abs(g.Folder.Path); err == nil {
		return filepath.Base(abs)
	}
	return g.Folder.Path
}

// tree returns the tree of the families: by owner, the last used first.
func (b *treeBuilder) tree() *treeview.Tree {
	t := &treeview.Tree{Owners: []*treeview.Owner{}}
	ranks := map[string]int{}
	for _, k := range b.families {
		key := k.graph.Folder.Path + "\x00" + k.owner
		if _, ok := ranks[key]; !ok {
			ranks[key] = len(ranks)
		}
		k.rank = ranks[key]
	}

	slices.SortStableFunc(b.families, func(x, y *familyRow) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(y.last, x.last), cmp.Compare(x.name, y.name))
	})
	var owner *treeview.Owner
	rank := -1
	for _, k := range b.families {
		if k.rank != rank {
			rank = k.rank
			owner = &treeview.Owner{Name: k.owner}
			t.Owners = append(t.Owners, owner)
		}
		for i, c := range k.chats {
			owner.Chats = append(owner.Chats, b.chat(k, c, k.depth[i]))
		}
	}

	for _, o := range t.Owners {
		followed := map[*treeview.Chat]bool{} // chats with a child behind the one that is looked at
		for _, c := range slices.Backward(o.Chats) {
			if c.Above != nil {
				c.Last, followed[c.Above] = !followed[c.Above], true
			}
		}
	}

	b.summary.Schema, b.summary.Summary = treeview.Schema, true
	t.Summary = b.summary
	return t
}

// chat returns what is shown of a chat.
func (b *treeBuilder) chat(k *familyRow, c *family.Chat, depth int) *treeview.Chat {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}

	t := &treeview.Chat{
		Schema: treeview.Schema,
		Path:   filepath.ToSlash(c.Path),
		Name:   c.Name,
		Owner:  k.owner,
		Kind:   string(k.graph.Folder.Kind),
		Role:   string(c.Role),
		Family: k.graph.Root(c).Name,

		Dangling:   text(c.Dangling),
		Own:        c.Own(),
		Messages:   len(c.Messages),
		Bytes:      c.Bytes,
		Current:    k.graph.Current(c),
		Cycle:      c.Cycle,
		Unreadable: c.Err != nil,
		UUID:       text(c.UUID),
		Integrity:  text(c.Integrity),

		Depth: depth,
		First: moment(c.FirstDate),
		Until: moment(c.LastDate()),
	}

	t.FirstDate = date(t.First)
	t.LastDate = date(t.Until)

	if p := c.Parent; p != nil {
		t.Parent = &p.Name
		t.Via = text(string(c.Via))
		t.At = new(c.At)
		t.AtParent = new(c.AtParent)
		t.Shared = new(c.Shared)
		t.Edited = new(c.Edited())
		if c.AtLink >= 0 {
			t.AtLink = new(c.AtLink)
		}
		if depth > 0 {
			t.Above = b.shown[p]
		}
	}

	for _, child := range c.Children {
		t.Children = append(t.Children, child.Name)
	}
	b.shown[c] = t
	b.order = append(b.order, c)
	return t
}

// moment converts a date in milliseconds since 1970 to a time; 0 becomes the zero time.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func date(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	return new(sendate.Format(at))
}
