package rules

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/folder/family"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/visible"
)

// safeName returns the name of the file to which a link by name leads; ok is false
// if no file can have it.
func safeName(name string) (safe string, ok bool) {
	safe, err := names.Sanitize(name)
	return safe, err == nil
}

// judgeLinks judges a chat's own name and where its links lead.
func judgeLinks(f *folderChats, c *Chat) {
	base := filepath.Base(f.folder.File(c.Name))
	if c.Name == "" {
		c.report(WrongExtension, 0, 0, "the file has no name in front of .jsonl")
	} else if !strings.HasSuffix(base, names.Extension) {
		c.report(WrongExtension, 0, 0, "the file's name does not end in .jsonl in small letters")
	} else if safe, ok := safeName(c.Name); !ok || safe != c.Name {
		c.add(Finding{
			Rule: UnsafeName, Index: -1, Message: "the file's own name is not safe",
			effect: "SillyTavern lists the chat, asks its server for another name, and opens an empty chat",
			repair: "rename the file, and the links to it",
		})
	}

	if n := len(base); n > names.MaxFile {
		c.report(NameTooLong, 0, 0, fmt.Sprintf("the file's name has %d bytes", n))
	}
	if c.MainChat != "" {
		target, ok := f.folder.Target(c.MainChat)
		if finding, wrong := judgeLink(DanglingMainChat, "the parent", &Link{Name: c.MainChat, Index: noMessage, target: target, found: ok}); wrong {
			c.addHead(finding)
		}
	}

	for i := range c.Links {
		l := &c.Links[i]
		dangling, what := DanglingBranch, "branch"
		if l.Kind == Checkpoint {
			dangling, what = DanglingCheckpoint, "checkpoint"
		}
		whose := "the"
		if l.Swipe {
			whose = "a swipe's"
		}
		what = whose + " " + what
		if finding, wrong := judgeLink(dangling, what, l); wrong {
			c.add(finding)
		}
	}
}

// judgeParents judges the chats of a folder by their parents.
func judgeParents(ctx context.Context, f *folderChats) error {
	var suspects []suspect
	for _, c := range f.checked {
		if circle, ok := f.circles[c]; ok {
			c.reportHead(ChatCycle, circleMessage(circle))
			continue
		}
		judgeOrphan(f, c)
		p := f.parent(c)
		if p == nil || !p.whole {
			continue
		}
		var link *Link // by which the parent notes this chat as a checkpoint
		listed := false
		for _, l := range f.links[c] {
			if l.from != p {
				continue
			}
			listed = true
			if l.Kind == Checkpoint && (link == nil || c.Messages == l.Index+1) {
				link = l
			}
		}

		if !listed && !p.moreLinks {
			c.reportHead(UnlistedBranch, fmt.Sprintf("the parent %q does not list this chat", clip(p.Name)))
		}
		if link != nil && c.chain != link.chain {
			suspects = append(suspects, suspect{c, link})
		}
	}
	return judgeSuspects(ctx, f, suspects)
}

// judgeOrphan judges a chat that names no parent although another links to it.
func judgeOrphan(f *folderChats, c *Chat) {
	if c.MainChat != "" {
		return
	}
	for _, l := range f.links[c] {
		// The chat itself and those that came from it are no parents. Nor, perhaps, are
		// chats that copied the link from a parent that is gone.
		if !f.cameFrom(l.from, c) && !f.isLost(l.from) {
			c.reportHead(MissingMainChat, fmt.Sprintf("%q links to this chat, which names no parent", clip(l.from.Name)))
			return
		}
	}
}

// suspect is a checkpoint that differs from its parent up to the link, in length or
// in messages.
type suspect struct {
	chat *Chat
	link *Link
}

// judgeSuspects judges checkpoints by where they part from their parents. It reads them
// again, each parent once.
func judgeSuspects(ctx context.Context, f *folderChats, suspects []suspect) error {
	of := map[*Chat][]suspect{}
	for _, s := range suspects {
		of[s.link.from] = append(of[s.link.from], s)
	}
	for _, p := range f.chats {
		list := of[p]
		if list == nil {
			continue
		}
		paths := make([]string, len(list))
		for i, s := range list {
			paths[i] = s.chat.Path
		}
		points, err := family.Forks(ctx, &f.around.Library, p.Path, paths)
		if err != nil {
			return err
		}
		for i, s := range list {
			// nil: it is gone, or changed since it was scanned. The message that has the
			// link may have been edited, so it is not compared.
			if at := points[i]; at != nil && at.AtParent < s.link.Index-1 {
				s.chat.reportHead(DivergedCheckpoint, fmt.Sprintf("%s, and hangs on its message %d", parting(p, at.AtParent), s.link.Index))
			}
		}
	}
	return nil
}

// parting describes where a chat parts from its parent.
func parting(p *Chat, at int) string {
	if at < 0 {
		return fmt.Sprintf("it shares no message with its parent %q", clip(p.Name))
	}
	return fmt.Sprintf("it parts from its parent %q at message %d", clip(p.Name), at)
}

// circleMessage names the chats of a circle, beginning with the one at c.at.
func circleMessage(c circle) string {
	if len(c.chats) == 1 {
		return "the chat is its own parent"
	}
	name := func(i int) string { return c.chats[(c.at+i)%len(c.chats)].Name }
	return "the chat is its own ancestor: " + firstFew(len(c.chats), name, " comes from ")
}

// judgeLink judges whether a link leads to a chat, and spells its name as the file does. wrong is
// false if there is nothing to find.
func judgeLink(dangling ID, what string, l *Link) (finding Finding, wrong bool) {
	finding = Finding{Line: l.Line, Column: l.Column, Index: l.Index}
	switch {
	case !l.found:
		finding.Rule, finding.Message = dangling, fmt.Sprintf("%s %q is not there", what, clip(l.Name))
	case l.target != l.Name:
		finding.Rule, finding.Message = UnsafeName, fmt.Sprintf("%s %q is the file %q", what, clip(l.Name), clip(l.target))
		if safe, ok := safeName(l.Name); ok && safe != l.target {
			finding.effect = "the names differ in letter case: where that counts, as on Linux, SillyTavern opens an empty chat in place of it"
		}
	default:
		return finding, false
	}
	return finding, true
}

// judgeSlugs judges the integrity slugs of the chats of one folder.
func judgeSlugs(f *folderChats) {
	bySlug := map[string][]*Chat{}
	for _, c := range f.chats {
		if c.Integrity != "" {
			bySlug[c.Integrity] = append(bySlug[c.Integrity], c)
		}
	}

	of := map[string]*sharing{}
	for _, c := range f.chats {
		switch shared := bySlug[c.Integrity]; {
		case c.Integrity == "" && !c.HasHeader: // another rule tells that
		case c.Integrity == "":
			c.reportHead(IntegrityMissing, "the header has no integrity")
		case len(shared) > 1:
			if of[c.Integrity] == nil {
				of[c.Integrity] = f.sharing(shared)
			}
			f.judgeSharing(c, of[c.Integrity])
		}
	}
}

// sharing is what is known of chats that share a slug.
type sharing struct {
	keeper      *Chat // whose slug it is
	areVersions bool  // the others are versions of it, conflict files, by their names
}

// sharing returns whose slug it is that chats share.
func (f *folderChats) sharing(chats []*Chat) *sharing {
	differ := func(c *Chat) bool { return c.MainChat != chats[0].MainChat }
	if !slices.ContainsFunc(chats, differ) {
		var all []string
		for _, c := range chats {
			all = append(all, c.Name)
		}
		if of, ok := names.ConflictsAmong(all); ok {
			return &sharing{f.byName[of], true}
		}
	}

	others := slices.DeleteFunc(slices.Clone(chats), func(c *Chat) bool { return f.conflictOf(c) != nil || f.renamedTo(c) != nil })
	if len(others) == 0 { // names that were given back and forth
		others = chats
	}
	return &sharing{f.eldest(others), false}
}

// conflictOf returns the chat with the same slug of which a chat is another version as its name alone
// proves; nil if it is none.
func (f *folderChats) conflictOf(c *Chat) *Chat {
	of, _, ok := names.ConflictOf(c.Name)
	original := f.byName[of]
	if !ok || original == nil || original.Integrity != c.Integrity {
		return nil
	}
	return original
}

// renamedTo returns the chat with the same slug that a chat was renamed to with stchat; nil if there is
// none. Both are there if a page that had the chat open saved it under its old name.
func (f *folderChats) renamedTo(c *Chat) *Chat {
	path := f.folder.File(c.Name)
	for range f.chats { // they may have been renamed in a circle
		path = f.around.movedTo(f.folder.Dir, path)
		if path == "" {
			return nil
		}
		now := f.byName[userdir.ChatName(path)]
		isHere := filepath.Dir(path) == filepath.Clean(f.folder.Path)
		if isHere && now != nil && now != c && now.Integrity == c.Integrity {
			return now
		}
	}
	return nil
}

// judgeSharing judges a chat that shares its slug with others.
func (f *folderChats) judgeSharing(c *Chat, s *sharing) {
	original, isVersion := s.keeper, s.areVersions
	if of := f.conflictOf(c); of != nil {
		original, isVersion = of, true
	}
	renamed := f.renamedTo(c)
	switch {
	case c == original:
	case renamed != nil:
		c.addHead(Finding{
			Rule: IntegrityShared, Index: noMessage, Message: fmt.Sprintf("the same integrity as %q, which had this name before it was renamed", clip(renamed.Name)),
			effect: "a page that still had the chat open has saved it under its old name again; what is written there is missing in the other",
			repair: "close the chat in SillyTavern, let 'stchat merge NEW OLD' put what this one has more into the renamed one, and delete this one",
		})
	case isVersion:
		c.addHead(Finding{
			Rule: IntegrityShared, Index: noMessage, Message: fmt.Sprintf("the same integrity as %q, and by its name another version of it", clip(original.Name)),
			effect: "OneDrive, Syncthing and their like leave such a file where a chat was changed in two places; SillyTavern lists both",
			repair: "'stchat merge --conflicts' puts what the chat lacks into it, and removes this file",
		})
	default:
		c.reportHead(IntegrityShared, fmt.Sprintf("the same integrity as %q", clip(original.Name)))
	}
}

// LinkRepair repairs the links of messages.
type LinkRepair struct {
	Target  func(name string) (target string, ok bool)
	Renamed func(name string) (now string, ok bool) // the current name of a missing chat; now is empty if it is not clear
	Remove  Set                                     // rules by which links that lead nowhere are removed
}

// OnLinks returns the rules about links of messages.
func OnLinks() Set {
	return SetOf(DanglingCheckpoint, DanglingBranch, UnsafeName)
}

// Dangling returns the rules about names that lead nowhere.
func Dangling() Set {
	return SetOf(DanglingMainChat, DanglingCheckpoint, DanglingBranch)
}

// message returns the message with its links repaired. Swipes repeat the links of the message, so
// each change is listed once.
func (l *LinkRepair) message(want Set, line []byte) (out []byte, changes []Change) {
	out = message.EditLinks(line, func(checkpoint bool, name string) (to string, keep bool) {
		dead, what := DanglingBranch, "branch"
		if checkpoint {
			dead, what = DanglingCheckpoint, "checkpoint"
		}
		to, one := l.link(want, name, dead, what)
		if one.Text == "" {
			return name, true
		}
		if !slices.ContainsFunc(changes, func(c Change) bool { return c.Text == one.Text }) {
			changes = append(changes, one)
		}
		return to, to != ""
	})
	return out, changes
}

// link judges one link: a link to a renamed or differently spelled chat is corrected, and one
// to a missing chat is removed if that was asked for; then to is empty. The change has no text
// if the link stays.
func (l *LinkRepair) link(want Set, name string, dead ID, what string) (to string, one Change) {
	target, alive := l.Target(name)
	switch {
	case alive && target != name && want.Has(UnsafeName):
		return target, Change{Rule: UnsafeName, Text: fmt.Sprintf("the link to the %s names the file as it is called", what)}
	case alive || !want.Has(dead):
		return "", Change{}
	}

	switch now, renamed := l.Renamed(name); {
	case renamed && now == "":
	case renamed:
		return now, Change{Rule: dead, Text: fmt.Sprintf("the link to the %s %q, which is not there, now names %q", what, visible.Clip(name, 120), visible.Clip(now, 120))}
	case l.Remove.Has(dead):
		return "", Change{Rule: dead, Text: fmt.Sprintf("removed the link to the %s %q, which is not there", what, visible.Clip(name, 120))}
	}
	return "", Change{}
}
