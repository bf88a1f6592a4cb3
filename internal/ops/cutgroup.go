package ops

import (
	"errors"
	"fmt"
	"time"

	"stchat/internal/group"
	"stchat/internal/memo"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

// groupCache reads the group files of a user folder once a call.
type groupCache struct{ sets memo.Memo[groupRead] }

type groupRead struct {
	set *group.Set
	err error
}

// In implements chat.Groups.
func (g *groupCache) In(dir userdir.Dir) (*group.Set, error) {
	r := g.sets.Get(dir.Root, func() groupRead {
		set, err := group.LoadAll(dir.Groups())
		return groupRead{set, pathError(err)}
	})
	return r.set, r.err
}

// planGroup settles which group file the new name goes to.
func (j *cutJob) planGroup() error {
	c := j.chat
	if c.Kind != userdir.Group || j.NoGroup || len(c.Groups) == 0 {
		return nil
	}
	if !j.beside {
		j.res.warn("%s: the new chat is not in the group's folder, so no group lists it", c.Label())
		return nil
	}
	g := c.Groups[0]
	if err := safefile.CanReplace(g.Path); err != nil {
		return fmt.Errorf("%w; with --no-group the group file is not touched", pathError(err))
	}
	if g.HasOldLayout() {
		// The new chat has a header, as SillyTavern 1.16 and later write it. Up to
		// 1.14 a group chat has none, and a page of 1.13 that opens a chat without
		// an entry in past_metadata takes it for a fresh one.
		j.res.warn("%s: this group has the layout of SillyTavern up to 1.14, and the new chat that of 1.16 and later: open it with 1.16 or later only", g.Path)
	}
	j.group = g.Path
	j.res.Group = &j.group
	return nil
}

// joinGroups appends the new names to their groups, each group file once.
func (c *cut) joinGroups() {
	byPath := map[string][]*cutJob{}
	var order []string
	for _, j := range c.jobs {
		if j.group == "" || !j.res.Written {
			continue
		}
		if byPath[j.group] == nil {
			order = append(order, j.group)
		}
		byPath[j.group] = append(byPath[j.group], j)
	}
	for _, path := range order {
		jobs := byPath[path]
		err := c.joinGroup(path, jobs)
		for _, j := range jobs {
			if err != nil && !unsynced(err) {
				j.fail(fmt.Errorf("%s: %w; %s is written but not in the group; to complete it: stchat repair --write --rule group-unlisted %s",
					path, err, j.target, visible.Quote(j.target)))
				continue
			}
			j.fail(err)
			j.res.InPlace = true
			j.res.would("add %q to the group file %s", j.name.File, path)
		}
	}
}

func (c *cut) joinGroup(path string, jobs []*cutJob) error {
	var chats []string
	for _, j := range jobs {
		chats = append(chats, j.name.File)
	}
	const tries = 20 // SillyTavern and other runs of stchat write it too
	for try := 1; ; try++ {
		// read again: it may have been written while the chats were copied
		g, err := group.Load(path)
		if err != nil {
			return err
		}
		data, err := g.WithChats(chats...)
		if err != nil || c.DryRun {
			return err
		}
		_, err = safefile.Rewrite(path, data, g.Stamp, safefile.Options{NoSync: c.NoSync})
		if !errors.Is(err, safefile.ErrChanged) || try == tries {
			return cause(err)
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
}
