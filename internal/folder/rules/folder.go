package rules

import (
	"slices"
	"strings"

	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/group"
)

// folderChats is the chats of one folder: those that are checked, and the others, of
// which only the head was read.
type folderChats struct {
	folder  *library.Folder
	around  *Lookup
	chats   []*Chat // all, by name
	checked []*Chat
	byName  map[string]*Chat

	graph   *family.Graph // the chats' descent by main_chat
	kin     map[*Chat]*family.Chat
	chat    map[*family.Chat]*Chat
	circles map[*Chat]circle        // of chats that are their own ancestors
	links   map[*Chat][]*Link       // that lead to a chat
	groups  map[*Chat][]*group.File // see groupsAbove
}

// circle is a circle of parents, and the place of one chat in it.
type circle struct {
	chats []*Chat
	at    int
}

// parent returns the chat that main_chat names, nil if the folder has none.
func (f *folderChats) parent(c *Chat) *Chat {
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

// relate works out which chats come from which and which link to which. All chats must
// be known. It looks at each chat and link once.
func (f *folderChats) relate() {
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
		chats := f.chatsOf(members)
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
			if to := f.byName[l.target]; l.found && to != nil && !l.Swipe {
				f.links[to] = append(f.links[to], l)
			}
		}
	}
}

func (f *folderChats) chatsOf(kin []*family.Chat) []*Chat {
	chats := make([]*Chat, len(kin))
	for i, k := range kin {
		chats[i] = f.chat[k]
	}
	return chats
}

// eldest returns the chat from which the others come: the root by main_chat or, where
// that does not decide, the one that began first.
func (f *folderChats) eldest(chats []*Chat) *Chat {
	kin := make([]*family.Chat, len(chats))
	for i, c := range chats {
		kin[i] = f.kin[c]
	}
	return f.chat[f.graph.Eldest(kin)]
}

// cameFrom reports whether a chat is root, which names no parent, or comes from it.
func (f *folderChats) cameFrom(c, root *Chat) bool { return f.graph.Root(f.kin[c]) == f.kin[root] }

// isLost reports whether the family of a chat has lost its root: the eldest chat that
// exists names a parent that does not, or has a name made from one that does not.
func (f *folderChats) isLost(c *Chat) bool {
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

// groupOf returns the group to which a chat that no group lists belongs: the
// group that has it open, or that holds metadata of it in the layout up to SillyTavern
// 1.14, or that lists its nearest listed ancestor, or a chat with a link to it. It returns
// nil where none or several qualify.
func (f *folderChats) groupOf(c *Chat) *group.File {
	one := func(list []*group.File) *group.File {
		if len(list) == 1 {
			return list[0]
		}
		return nil
	}

	set, _ := f.around.groups(c)
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

// groupsAbove returns the groups that list the chat's nearest listed ancestor.
func (f *folderChats) groupsAbove(c *Chat) []*group.File {
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
