package rules

import (
	"fmt"
	"slices"
	"strings"

	"stchat/internal/group"
	"stchat/internal/names"
	"stchat/internal/userdir"
)

// groupChat judges whether a group chat is one group's.
func (k *Checker) groupChat(f *family, c *Chat) {
	if c.Kind != userdir.Group || !c.HasDir {
		return
	}
	if g := k.groups(c.Dir); g.err != nil || len(g.set.Bad) > 0 && len(g.set.Listing(c.Name)) == 0 {
		return // the group that lists it may be one that cannot be read
	}
	listing := k.listing(c)
	switch len(listing) {
	case 0:
		finding := Finding{Rule: GroupUnlisted, Index: -1, Message: "no group lists this chat"}
		if c.Group = k.groupOf(f, c); c.Group == "" {
			finding.mend = "add the chat's name to the chats of its group by hand: nothing tells which group that is"
		}
		c.add(finding)
	case 1:
	default:
		var all []string
		for _, g := range listing {
			all = append(all, fmt.Sprintf("%q", clip(g.Name)))
		}
		c.report(GroupTwice, 0, 0, fmt.Sprintf("%d groups list this chat: %s", len(all), strings.Join(all, ", ")))
	}
	if old := k.oldMetadata(c); old != nil {
		message := fmt.Sprintf("the group %q still holds metadata of this chat, beside its header", clip(old.Name))
		if !c.HasHeader {
			message = fmt.Sprintf("the chat has no header; the group %q holds its metadata", clip(old.Name))
		}
		c.report(GroupOldLayout, c.FirstLine, 0, message)
	}
}

// groupOf gives the file of the group to which a chat that none lists belongs:
// the one that has it open, the one that holds metadata of it in the layout up
// to SillyTavern 1.14, that of the nearest ancestor that any group lists, or that
// of a chat with a link to it. Where they are several, it is none.
func (k *Checker) groupOf(f *family, c *Chat) string {
	one := func(list []*group.File) string {
		if len(list) == 1 {
			return list[0].Path
		}
		return ""
	}
	var open []*group.File
	for _, g := range k.groups(c.Dir).set.Files {
		if safe, ok := safeName(g.ChatID); g.ChatID == c.Name || ok && safe == c.Name {
			open = append(open, g)
		}
	}
	if len(open) > 0 {
		return one(open)
	}
	if keeping, _ := k.keepingMetadata(c); len(keeping) > 0 {
		return one(keeping)
	}
	seen := map[*Chat]bool{c: true}
	for p := f.parent(c); p != nil && !seen[p]; p = f.parent(p) {
		seen[p] = true
		if list := k.listing(p); len(list) > 0 {
			return one(list)
		}
	}
	var linking []*group.File
	for _, other := range f.chats {
		for i := range other.Links {
			if target, ok := k.LinkTarget(f.path, other.Links[i].Name); ok && target == c.Name {
				for _, g := range k.listing(other) {
					if !slices.Contains(linking, g) {
						linking = append(linking, g)
					}
				}
			}
		}
	}
	return one(linking)
}

// keepingMetadata gives the group files that hold metadata of a group chat,
// whether they list it or not; unread says that some cannot be read.
func (k *Checker) keepingMetadata(c *Chat) (files []*group.File, unread bool) {
	if c.Kind != userdir.Group || !c.HasDir {
		return nil, false
	}
	g := k.groups(c.Dir)
	if g.err != nil {
		return nil, true
	}
	for _, file := range g.set.Files {
		if _, ok := file.OldMetadata(c.Name); ok {
			files = append(files, file)
		}
	}
	return files, len(g.set.Bad) > 0
}

// OldGroups gives the group files that hold metadata of the chat in the layout
// up to SillyTavern 1.14, and what the first of them holds.
func (k *Checker) OldGroups(c *Chat) (files []*group.File, metadata []byte) {
	for _, g := range k.listing(c) {
		if raw, ok := g.OldMetadata(c.Name); ok {
			if files == nil {
				metadata = raw
			}
			files = append(files, g)
		}
	}
	return files, metadata
}

// groupFile judges the chats that a group lists.
func (k *Checker) groupFile(g *group.File, dir userdir.Dir) []Finding {
	var fs findings
	f := k.folder(dir.GroupChats())
	for _, chat := range g.Chats {
		safe, err := names.Sanitize(chat)
		if f.chats[chat] || err == nil && f.has(safe) {
			continue
		}
		fs.add(Finding{Rule: GroupMissingChat, Path: g.Path, Index: -1, Message: fmt.Sprintf("the chat %q of the group %q is not there", clip(chat), clip(g.Name))})
	}
	return fs.list
}
