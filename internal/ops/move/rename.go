package move

import (
	"context"
	"fmt"
	"strings"

	"stchat/internal/family"
	"stchat/internal/names"
)

// RenameOptions says which chat to rename, and how.
type RenameOptions struct {
	Options
	Chat   string
	Name   string
	Family bool // also rename descendants whose names begin with the old one
	Book   bool // also rename the lorebook that the chat names, if its name contains the old one
}

// Rename renames a chat, and updates everything that names it. It returns the chat's result
// first, then those of the descendants and the lorebook that are renamed with it.
func Rename(ctx context.Context, opt RenameOptions) []*Result {
	return change(ctx, &opt.Options, opt.Chat, func(n *renameSet) error {
		subject, err := n.find(opt.Chat)
		if err == nil {
			err = n.rename(subject, opt.Name)
		}
		if err != nil {
			return err
		}
		goes := []*family.Chat{subject}
		if opt.Family {
			goes = append(goes, n.renameFamily(subject)...)
		}
		if err := n.judgeNames(); err != nil {
			return err
		}
		n.begin(goes)
		if n.collect(); opt.Book {
			return renameOwnBook(ctx, n, subject)
		}
		return nil
	})
}

// rename notes the new name of a chat, made safe as SillyTavern does.
func (n *renameSet) rename(c *family.Chat, name string) error {
	most := names.MaxBytes
	if len(n.graph.Folder.Sidecars(c.Name)) > 0 {
		most = names.MaxLuker
	}
	safe, err := newName(name, names.Extension, most)
	if strings.ContainsAny(name, `/\`) {
		err = fmt.Errorf("%w; move takes a chat elsewhere", err)
	}
	if err == nil && safe != strings.TrimSuffix(name, names.Extension) {
		n.r.Note("the name is made safe: %s → %s", strings.TrimSuffix(name, names.Extension), safe)
	}
	n.to[c] = safe
	return err
}

// renameFamily notes new names for the descendants of a chat whose names begin with its old
// one, and returns them.
func (n *renameSet) renameFamily(subject *family.Chat) []*family.Chat {
	var list []*family.Chat
	family.Walk(subject, func(c *family.Chat, _ int) {
		rest, ok := strings.CutPrefix(c.Name, subject.Name)
		if !ok || c == subject {
			return
		}
		n.to[c] = names.Derive(n.to[subject], "", rest, names.MaxBytes)
		list = append(list, c)
	})
	return list
}

// judgeNames refuses names that are taken in the folder or in a group's list, in any letter
// case, and names for which Luker's state of another chat is left over.
func (n *renameSet) judgeNames() error {
	taken, here := takenNames{}, map[string]bool{}
	for _, c := range n.graph.Chats {
		if here[c.Name] = true; n.stays(c) {
			taken.add(c.Name)
		}
	}
	if n.isGroup() {
		for _, g := range n.graph.Groups {
			for _, listed := range g.Chats {
				if n.graph.Find(listed) == nil {
					taken.add(listed)
				}
			}
		}
	}
	for _, c := range n.graph.Chats {
		name := n.to[c]
		if name == "" {
			continue
		}
		if name == c.Name {
			return fmt.Errorf("%s: %w: it already has this name", c.Path, ErrTaken)
		}
		if err := taken.claim(name); err != nil {
			return err
		}
		if here[name] {
			continue
		}
		if err := leftOver(n.graph.Folder, name); err != nil {
			return err
		}
	}
	return nil
}

// unreachable records what keeps the old name outside the files.
func unreachable(r *Result) {
	r.Doc.Unreachable = append(r.Doc.Unreachable, "the prompts that the browser keeps (IndexedDB)", "the vector index, which SillyTavern rebuilds", "a tab in which the chat is open")
}
