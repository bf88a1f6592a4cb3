package rules

import (
	"errors"
	"fmt"

	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/group"
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
			finding.repair = "'stchat move CHAT GROUP' adds it to the list of the group that you name: nothing tells which group that is"
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

// Missing is a group file that lists chats which are not there.
type Missing struct {
	Group *group.File
	Names []string // as they are written
}

// missingIn returns the names in a group's list that lead to no chat.
func missingIn(around *Lookup, g *group.File, dir userdir.Dir) (names []string) {
	f := around.Folder(dir.GroupChats())
	for _, chat := range g.Chats {
		_, isThere := f.Target(chat)
		isNew := chat == g.ChatID || around.isBegun(dir, g, chat) // SillyTavern starts it with its greetings
		if !isThere && !isNew {
			names = append(names, chat)
		}
	}
	return names
}

// Missing returns the groups that list chats which are not there. The groups are those of
// [Checker.Across].
func (k *Checker) Missing(chats []*Chat, scope Scope) (list []Missing) {
	groups, _ := groupsOf(k.Lookup, chats, scope) // Across told what cannot be read
	for _, g := range groups {
		if names := missingIn(k.Lookup, g.file, g.dir); len(names) > 0 {
			list = append(list, Missing{g.file, names})
		}
	}
	return list
}

// judgeGroupFiles judges whether the chats that groups list exist. The error joins those of files that
// cannot be read.
func judgeGroupFiles(look *Lookup, chats []*Chat, scope Scope) (out []Finding, err error) {
	groups, err := groupsOf(look, chats, scope)
	for _, g := range groups {
		var fs findings
		for _, name := range missingIn(look, g.file, g.dir) {
			message := fmt.Sprintf("the chat %q of the group %q is not there", clip(name), clip(g.file.Name))
			fs.add(Finding{Rule: GroupMissingChat, Path: g.file.Path, Index: noMessage, Message: message})
		}
		out = append(out, fs.all()...)
	}
	return out, err
}

// groupIn is a group file and its user folder.
type groupIn struct {
	file *group.File
	dir  userdir.Dir
}

// groupsOf returns the groups that are judged, each once. The error joins those of files that cannot be
// read.
func groupsOf(look *Lookup, chats []*Chat, scope Scope) (list []groupIn, err error) {
	var errs []error
	done := map[string]bool{}
	add := func(file *group.File, dir userdir.Dir) {
		if !done[file.Path] {
			done[file.Path] = true
			list = append(list, groupIn{file, dir})
		}
	}

	dirs := map[string]bool{}
	known := func(dir userdir.Dir) *group.Set {
		set, err := look.Groups(dir)
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
				add(file, dir)
			}
		}
	}

	for _, c := range chats {
		if c.Kind == userdir.Group && c.HasDir {
			known(c.Dir)
		}
		for _, file := range look.listing(c) {
			add(file, c.Dir)
		}
	}
	return list, errors.Join(errs...)
}
