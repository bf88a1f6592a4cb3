package move

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/family"
	"stchat/internal/luker"
	"stchat/internal/names"
	"stchat/internal/ops"
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
	r := newResult(opt.Chat)
	var more []*Result
	run(ctx, &opt.Options, r, func(ctx context.Context, s *changeset.Set) error {
		f, err := read(ctx, &opt.Options, folderOf(opt.Chat))
		if err != nil {
			return err
		}
		subject, err := f.find(opt.Chat)
		if err != nil {
			return err
		}
		n := newNaming(f, r)
		if err := rename(n, subject, opt.Name); err != nil {
			return err
		}
		if opt.Family {
			for _, c := range renameFamily(n, subject) {
				other := newResult(c.Path)
				to := n.path[c]
				other.Doc.To = &to
				more = append(more, other)
			}
		}
		if err := judgeNames(n); err != nil {
			return err
		}
		to := n.path[subject]
		r.Doc.To = &to
		unreachable(r)
		n.collect()
		if opt.Book {
			book, err := renameOwnBook(ctx, n, subject, s)
			if err != nil {
				return ops.PathError(err)
			}
			if book != nil {
				more = append(more, book)
			}
		}
		if err := (drafter{n, s}).draft(ctx); err != nil {
			return err
		}
		if err := draftEntries(ctx, n, s); err != nil {
			return err
		}
		return draftPins(n, s)
	})
	return together(r, more)
}

// rename notes the new name of a chat, made safe as SillyTavern does.
func rename(n *naming, c *family.Chat, name string) error {
	name = strings.TrimSuffix(name, names.Extension)
	if strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("%q: %w: it has a / or \\; move takes a chat elsewhere", name, ErrName)
	}
	most := names.MaxBytes
	if len(n.folder.graph.Folder.Sidecars(c.Name)) > 0 {
		most = names.MaxLuker
	}
	safe, err := names.New(name, most)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrName, err)
	}
	if safe != name {
		n.r.Note("the name is made safe: %s → %s", name, safe)
	}
	n.to[c], n.path[c] = safe, filepath.Join(filepath.Dir(c.Path), safe+names.Extension)
	return nil
}

// renameFamily notes new names for the descendants of a chat whose names begin with its old
// one, and returns them.
func renameFamily(n *naming, subject *family.Chat) []*family.Chat {
	var list []*family.Chat
	family.Walk(subject, func(c *family.Chat, _ int) {
		rest, ok := strings.CutPrefix(c.Name, subject.Name)
		if !ok || c == subject {
			return
		}
		name := names.Derive(n.to[subject], "", rest, names.MaxBytes)
		n.to[c], n.path[c] = name, filepath.Join(filepath.Dir(c.Path), name+names.Extension)
		list = append(list, c)
	})
	return list
}

// judgeNames refuses names that are taken in the folder or in a group's list, in any letter
// case, and names for which Luker's state of another chat is left over.
func judgeNames(n *naming) error {
	f := n.folder.graph.Folder
	taken := map[string]string{}
	for _, c := range n.folder.graph.Chats {
		if _, renamed := n.to[c]; !renamed {
			taken[names.Fold(c.Name)] = c.Name
		}
	}
	if n.folder.isGroup() {
		for _, g := range n.folder.graph.Groups {
			for _, listed := range g.Chats {
				if c := n.folder.graph.Find(listed); c == nil {
					taken[names.Fold(listed)] = listed
				}
			}
		}
	}
	for _, c := range n.folder.graph.Chats {
		name, ok := n.to[c]
		if !ok || name == "" {
			continue
		}
		if name == c.Name {
			return fmt.Errorf("%s: %w: it already has this name", c.Path, ErrTaken)
		}
		if by, ok := taken[names.Fold(name)]; ok {
			return fmt.Errorf("%q %w: there is a chat %q", name, ErrTaken, by)
		}
		taken[names.Fold(name)] = name
		if left := f.Sidecars(name); len(left) > 0 && !slices.ContainsFunc(n.folder.graph.Chats, func(c *family.Chat) bool { return c.Name == name }) {
			return fmt.Errorf("%s: %w", left[0].Path, ErrLeftover)
		}
	}
	return nil
}

// unreachable notes what keeps the old name outside the files.
func unreachable(r *Result) {
	r.Doc.Unreachable = append(r.Doc.Unreachable, "the prompts that the browser keeps (IndexedDB)", "the vector index, which SillyTavern rebuilds", "a tab in which the chat is open")
	r.Note("not reached: %s", strings.Join(r.Doc.Unreachable, ", "))
}

// sidecarTarget returns the new path of a sidecar that goes with its chat.
func sidecarTarget(to, name, namespace string) string {
	return filepath.Join(filepath.Dir(to), luker.SidecarName(name, namespace))
}
