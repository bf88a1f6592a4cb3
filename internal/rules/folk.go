package rules

import (
	"slices"
	"strings"

	"stchat/internal/family"
	"stchat/internal/group"
	"stchat/internal/library"
	"stchat/internal/names"
)

// folk is the chats of one folder: those that are checked, and the others, of
// which only the head was read.
type folk struct {
	folder  *library.Folder
	around  *Surroundings
	chats   []*Chat // all, by name
	checked []*Chat
	byName  map[string]*Chat

	graph   *family.Graph // who comes from whom by main_chat
	kin     map[*Chat]*family.Chat
	chat    map[*family.Chat]*Chat
	circles map[*Chat]circle        // of the chats that are their own ancestors
	links   map[*Chat][]*Link       // the links that lead to a chat
	groups  map[*Chat][]*group.File // see groupsAbove
}

// circle is the chats of a circle, and the place of one of them in it.
type circle struct {
	chats []*Chat
	at    int
}

// parent returns the chat that main_chat names, nil where it is not in the folder.
func (f *folk) parent(c *Chat) *Chat {
	if c.MainChat == "" {
		return nil
	}
	if p := f.byName[c.MainChat]; p != nil {
		return p
	}
	target, ok := f.folder.Target(c.MainChat)
	if !ok {
		return nil
	}
	return f.byName[target]
}

// relate finds out who comes from whom and who links to whom, once the chats
// are known. Each chat and link is looked at once.
func (f *folk) relate() {
	f.kin, f.chat = make(map[*Chat]*family.Chat, len(f.chats)), make(map[*family.Chat]*Chat, len(f.chats))
	var all []*family.Chat
	for _, c := range f.chats {
		k := &family.Chat{Name: c.Name, MainChat: c.MainChat, FirstDate: c.FirstDate}
		f.kin[c], f.chat[k] = k, c
		all = append(all, k)
	}
	f.graph = family.New(f.folder, all, family.ByLinks)
	f.circles = map[*Chat]circle{}
	for _, members := range f.graph.Circles {
		chats := f.of(members)
		for at, c := range chats {
			f.circles[c] = circle{chats, at}
		}
	}
	f.links = map[*Chat][]*Link{}
	for _, c := range f.chats {
		for i := range c.Links {
			l := &c.Links[i]
			l.from = c
			l.target, l.found = f.folder.Target(l.Name)
			if to := f.byName[l.target]; l.found && to != nil {
				f.links[to] = append(f.links[to], l)
			}
		}
	}
}

func (f *folk) of(kin []*family.Chat) []*Chat {
	chats := make([]*Chat, len(kin))
	for i, k := range kin {
		chats[i] = f.chat[k]
	}
	return chats
}

// eldest returns the one of the chats from which the others come: the root by
// main_chat; where that does not tell, the one that began first.
func (f *folk) eldest(chats []*Chat) *Chat {
	kin := make([]*family.Chat, len(chats))
	for i, c := range chats {
		kin[i] = f.kin[c]
	}
	return f.chat[f.graph.Eldest(kin)]
}

// cameFrom reports whether a chat has root, which names no parent, among its
// ancestors, or is it.
func (f *folk) cameFrom(c, root *Chat) bool { return f.graph.Root(f.kin[c]) == f.kin[root] }

// isLost reports whether the family of a chat has lost its root: the eldest that is there
// names a parent that is not, or has its name from one.
func (f *folk) isLost(c *Chat) bool {
	root := f.chat[f.graph.Root(f.kin[c])]
	if root.MainChat != "" {
		return true
	}
	stems := []string{names.Clean(root.Name, names.Checkpoint), names.Clean(root.Name, names.Branch), family.ParentInName(root.Name)}
	if at := strings.LastIndex(root.Name, "__"); at > 0 {
		stems = append(stems, root.Name[:at])
	}
	return slices.ContainsFunc(stems, func(stem string) bool {
		_, there := f.folder.Target(stem)
		return stem != "" && stem != root.Name && !there
	})
}

// groupOf returns the file of the group to which a chat that none lists belongs:
// the one that has it open, the one that holds metadata of it in the layout up
// to SillyTavern 1.14, that of the nearest ancestor that any group lists, or that
// of a chat with a link to it. Where they are several, it is none.
func (f *folk) groupOf(c *Chat) string {
	one := func(list []*group.File) string {
		if len(list) == 1 {
			return list[0].Path
		}
		return ""
	}
	set, err := f.around.In(c.Dir)
	if err != nil {
		return ""
	}
	if open := set.Open(c.Name); len(open) > 0 {
		return one(open)
	}
	if keeping := set.Keeping(c.Name); len(keeping) > 0 {
		return one(keeping)
	}
	if above := f.groupsAbove(c); len(above) > 0 {
		return one(above)
	}
	var linking []*group.File
	var last *Chat
	for _, l := range f.links[c] {
		if l.from == last {
			continue
		}
		last = l.from
		for _, g := range f.around.listing(l.from) {
			if len(linking) < 2 && !slices.Contains(linking, g) {
				linking = append(linking, g)
			}
		}
	}
	return one(linking)
}

// groupsAbove returns the groups that list the nearest ancestor of the chat
// that any group lists.
func (f *folk) groupsAbove(c *Chat) []*group.File {
	if f.groups == nil {
		f.groups = map[*Chat][]*group.File{}
	}
	var way []*Chat
	var found []*group.File
	for p := f.parent(c); p != nil; p = f.parent(p) {
		if known, ok := f.groups[p]; ok {
			found = known
			break
		}
		way = append(way, p)
		f.groups[p] = nil // so that a circle ends
		if found = f.around.listing(p); len(found) > 0 {
			break
		}
	}
	for _, p := range way {
		f.groups[p] = found
	}
	return found
}
