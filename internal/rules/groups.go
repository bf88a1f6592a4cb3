package rules

import (
	"errors"
	"fmt"

	"stchat/internal/group"
	"stchat/internal/userdir"
)

// judgeGroup judges whether exactly one group lists a group chat, and whether a group
// still holds its metadata.
func judgeGroup(f *folderChats, c *Chat) {
	if c.Kind != userdir.Group || !c.HasDir {
		return
	}
	if set, err := f.around.groups(c); err != nil || len(set.Bad) > 0 && len(set.Listing(c.Name)) == 0 {
		return // the group that lists it may be one that cannot be read
	}
	listing := f.around.listing(c)
	switch len(listing) {
	case 0:
		finding := Finding{Rule: GroupUnlisted, Index: -1, Message: "no group lists this chat"}
		if c.Group = f.groupOf(c); c.Group == nil {
			finding.repair = "add the chat's name to the chats of its group by hand: nothing tells which group that is"
		}
		c.add(finding)
	case 1:
	default:
		all := firstFew(len(listing), func(i int) string { return listing[i].Name }, ", ")
		c.report(GroupTwice, 0, 0, fmt.Sprintf("%d groups list this chat: %s", len(listing), all))
	}
	if old, _ := f.around.OldGroups(c); old != nil {
		message := fmt.Sprintf("the group %q still holds metadata of this chat, beside its header", clip(old[0].Name))
		if !c.HasHeader {
			message = fmt.Sprintf("the chat has no header; the group %q holds its metadata", clip(old[0].Name))
		}
		c.report(GroupOldLayout, c.FirstLine, 0, message)
	}
}

// judgeGroupFile judges whether the chats that a group lists exist.
func judgeGroupFile(around *Lookup, g *group.File, dir userdir.Dir) []Finding {
	var fs findings
	f := around.Folder(dir.GroupChats())
	for _, chat := range g.Chats {
		if _, ok := f.Target(chat); ok || chat == g.ChatID {
			continue // SillyTavern starts the open chat with its greetings
		}
		if around.isBegun(dir, g, chat) {
			continue
		}
		fs.add(Finding{Rule: GroupMissingChat, Path: g.Path, Index: -1, Message: fmt.Sprintf("the chat %q of the group %q is not there", clip(chat), clip(g.Name))})
	}
	return fs.all()
}

// judgeGroupFiles judges group files. The error joins those of files that cannot be read.
func judgeGroupFiles(look *Lookup, chats []*Chat, scope Scope) (out []Finding, err error) {
	var errs []error
	done := map[string]bool{}
	judge := func(file *group.File, dir userdir.Dir) {
		if !done[file.Path] {
			done[file.Path] = true
			out = append(out, judgeGroupFile(look, file, dir)...)
		}
	}
	dirs := map[string]bool{}
	known := func(dir userdir.Dir) *group.Set {
		set, err := look.In(dir)
		if !dirs[dir.Root] {
			dirs[dir.Root] = true
			if err != nil {
				errs = append(errs, err)
			} else {
				errs = append(errs, set.Bad...)
			}
		}
		return set
	}
	for _, dir := range scope.Groups {
		if set := known(dir); set != nil {
			for _, file := range set.Files {
				judge(file, dir)
			}
		}
	}
	for _, c := range chats {
		if c.Kind == userdir.Group && c.HasDir {
			known(c.Dir)
		}
		for _, file := range look.listing(c) {
			judge(file, c.Dir)
		}
	}
	return out, errors.Join(errs...)
}
