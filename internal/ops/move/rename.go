package move

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"stchat/internal/change/safefile"
	"stchat/internal/folder/family"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// RenameOptions says which chat to rename, and how.
type RenameOptions struct {
	Options
	Chat   string
	Name   string
	Family bool // also rename descendants whose names begin with the old one
}

// Rename renames a chat, and updates everything that names it. It returns the chat's result
// first, then those of the descendants that are renamed with it.
func Rename(ctx context.Context, opt RenameOptions) []*Result {
	return change(ctx, &opt.Options, opt.Chat, func(n *renameSet) error {
		if userdir.ChatName(opt.Chat) == "" && userdir.HasExtension(opt.Chat) {
			return n.nameNameless(ctx, &opt)
		}
		subject, err := n.find(ctx, opt.Chat)
		if err == nil {
			err = n.rename(subject, opt.Name)
		}
		if err != nil {
			return err
		}
		if n.to[subject] == subject.Name && !opt.Family {
			n.keepsName(subject)
			return nil
		}
		goes := []*family.Chat{subject}
		if opt.Family {
			goes = append(goes, n.renameFamily(subject)...)
		}
		if err := n.judgeNames(); err != nil {
			return err
		}
		n.begin(goes)
		n.collect()
		return n.noteOwnBook(ctx, subject)
	})
}

// keepsName says that a chat is called so already, and that nothing is done.
func (n *renameSet) keepsName(c *family.Chat) {
	delete(n.to, c)
	n.r.Doc.To = &c.Path
	n.r.Tell(ops.Fact{Kind: ops.FactUnchanged, Path: c.Path})
}

// nameNameless renames a file that is called just .jsonl: SillyTavern makes one where a chat is renamed
// to blanks, lists it nowhere, and nothing can name it.
func (n *renameSet) nameNameless(ctx context.Context, opt *RenameOptions) error {
	stamp, err := safefile.StampPath(opt.Chat)
	if err != nil {
		return ops.PathError(err)
	}
	if err := chat.CheckFile(ctx, opt.Chat); err != nil {
		return err
	}
	safe, err := n.safeName(opt.Chat, opt.Name, names.MaxBytes)
	if err != nil {
		return err
	}
	taken := n.takenHere()
	if err := taken.claim(safe); err != nil {
		return err
	}
	if err := leftOver(n.graph.Folder, safe); err != nil {
		return err
	}
	to := filepath.Join(filepath.Dir(opt.Chat), safe+names.Extension)
	n.r.Doc.To = &to
	unreachable(n.r)
	return n.s.Move(opt.Chat, to, stamp, "the chat without a name")
}

// rename notes the new name of a chat, made safe as SillyTavern does.
func (n *renameSet) rename(c *family.Chat, name string) error {
	most := names.MaxBytes
	if len(n.graph.Folder.Sidecars(c.Name)) > 0 {
		most = names.MaxLuker
	}
	safe, err := n.safeName(c.Path, name, most)
	n.to[c] = safe
	return err
}

// safeName returns a new name of the chat at path, made safe as SillyTavern does, with a warning.
func (n *renameSet) safeName(path, name string, most int) (safe string, err error) {
	safe, err = newName(name, names.Extension, most)
	if strings.ContainsAny(name, `/\`) {
		err = fmt.Errorf("%w; move takes a chat elsewhere", err)
	}
	given := strings.TrimSuffix(name, names.Extension)
	if err == nil && safe != given {
		n.r.WarnSafeName(path, given, safe)
	}
	return safe, err
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
	taken, here := n.takenHere(), map[string]bool{}
	for _, c := range n.graph.Chats {
		here[c.Name] = true
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

// takenHere returns the names of the chats that stay, and those that a group lists without a file.
func (n *renameSet) takenHere() takenNames {
	taken := takenNames{}
	for _, c := range n.graph.Chats {
		if n.stays(c) {
			taken.add(c.Name)
		}
	}

	if !n.isGroup() {
		return taken
	}
	for _, g := range n.graph.Groups {
		for _, listed := range g.Chats {
			if n.graph.Find(listed) == nil {
				taken.add(listed)
			}
		}
	}
	return taken
}

// unreachable records what keeps the old name outside the files.
func unreachable(r *Result) {
	r.Doc.Unreachable = append(r.Doc.Unreachable, "the prompts that the browser keeps (IndexedDB)", "the vector index, which SillyTavern rebuilds", "a tab in which the chat is open")
}
