package ops

import (
	"bytes"
	"fmt"

	"stchat/internal/group"
	"stchat/internal/rules"
	"stchat/internal/safefile"
)

// groupPlan is what is to be done about one group file.
type groupPlan struct {
	join []string // chats to list
	old  []string // chats whose metadata leaves the file
}

// mendGroups mends the group files, after the chats: metadata leaves a group
// file only once it is in the chat's header.
func (r *repair) mendGroups(plans []*mendPlan) {
	byPath := map[string]*groupPlan{}
	var order []string
	of := func(path string) *groupPlan {
		g := byPath[path]
		if g == nil {
			g = &groupPlan{}
			byPath[path] = g
			order = append(order, path)
		}
		return g
	}
	for _, p := range plans {
		if p.failed {
			continue
		}
		if p.join != "" {
			g := of(p.join)
			g.join = append(g.join, p.chat.Name)
		}
		for _, file := range p.oldGroups {
			g := of(file.Path)
			g.old = append(g.old, p.chat.Name)
		}
	}
	for _, path := range order {
		res := r.result(path)
		if res.Err != nil {
			continue
		}
		if err := r.mendGroup(path, byPath[path], res); err != nil {
			res.Err = pathError(err)
		}
	}
}

func (r *repair) mendGroup(path string, g *groupPlan, res *RepairResult) error {
	if len(g.join) > 0 {
		change := fmt.Sprintf("added to the group's chats: %s", quoteAll(g.join))
		err := r.editGroup(path, rules.GroupUnlisted, change, res, func(f *group.File) ([]byte, error) { return f.WithChats(g.join...) })
		if err != nil {
			return err
		}
	}
	if len(g.old) == 0 {
		return nil
	}
	change := fmt.Sprintf("took out the metadata of %s", quoteAll(g.old))
	return r.editGroup(path, rules.GroupOldLayout, change, res, func(f *group.File) ([]byte, error) { return f.WithoutOldMetadata(g.old...) })
}

// editGroup makes one edit of a group file, read anew: SillyTavern may have
// written it while the chats were mended.
func (r *repair) editGroup(path string, id rules.ID, change string, res *RepairResult, edit func(*group.File) ([]byte, error)) error {
	f, err := group.Load(path)
	if err != nil {
		return err
	}
	data, err := edit(f)
	if err != nil || bytes.Equal(data, f.Raw()) {
		return err
	}
	if !r.Write {
		res.act(id, 0, -1, change, f.Raw(), data)
		return nil
	}
	backup := res.Backup
	var made *safefile.Temp
	r.sweep(path)
	if backup == nil {
		t, name, err := r.backup(path, bytes.NewReader(f.Raw()), int64(len(f.Raw())))
		if err != nil {
			return err
		}
		made, backup = t, &name
	}
	_, err = safefile.Rewrite(path, data, f.Stamp, safefile.Options{NoSync: r.NoSync})
	if err != nil && !unsynced(err) {
		if made != nil {
			_ = made.Undo() // the error that counts is the one above
		}
		return err
	}
	res.act(id, 0, -1, change, f.Raw(), data)
	res.Written, res.Backup = true, backup
	return err
}

func quoteAll(names []string) string {
	const enough = 5
	out := ""
	for i, name := range names {
		if i == enough {
			return out + fmt.Sprintf(" and %d more", len(names)-i)
		}
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprintf("%q", clipName(name))
	}
	return out
}
