package rules

import (
	"fmt"
	"strings"

	"stchat/internal/group"
	"stchat/internal/names"
	"stchat/internal/userdir"
)

// groupChat judges whether a group chat is one group's.
func (k *Checker) groupChat(c *Chat) {
	if c.Kind != userdir.Group || !c.HasDir {
		return
	}
	if g := k.groups(c.Dir); g.err != nil || len(g.set.Bad) > 0 && len(g.set.Listing(c.Name)) == 0 {
		return // the group that lists it may be one that cannot be read
	}
	listing := k.listing(c)
	switch len(listing) {
	case 0:
		c.report(GroupUnlisted, 0, 0, "no group lists this chat")
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
