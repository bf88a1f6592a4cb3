package move

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stchat/internal/folder/family"
	"stchat/internal/folder/inspect"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
)

// Clearing says which of the chats named are deleted.
type Clearing struct {
	Before      time.Time // last changed by then, as list tells it; zero: whenever
	Newest      int       // so many stay, of each owner or, of checkpoints, of each parent
	Checkpoints bool      // only checkpoints that hold nothing that their parent lacks
}

// Kept is a chat that was named and is not deleted.
type Kept struct {
	Path string `json:"path" is:"path"`
	Why  string `json:"why"`
}

// Clear is [Delete] for those of the chats that are as old as the clearing says, and that nothing needs: it
// leaves those that are open or pinned, and those with a child that stays. It returns a result for each chat
// deleted, and the chats that stay; all is judged before anything goes.
func Clear(ctx context.Context, opt DeleteOptions, clearing Clearing) (results []*Result, kept []Kept) {
	results, kept = deleteChosen(ctx, opt, func(n *renameSet, named []*family.Chat) ([]*family.Chat, error) {
		return n.clear(ctx, named, clearing)
	})
	slices.SortFunc(kept, func(a, b Kept) int { return strings.Compare(a.Path, b.Path) })
	return results, kept
}

// clear returns those of the chats that go, and notes why the others stay.
func (n *renameSet) clear(ctx context.Context, named []*family.Chat, clearing Clearing) (goes []*family.Chat, err error) {
	if clearing.Checkpoints {
		named = slices.DeleteFunc(named, func(c *family.Chat) bool { return c.Role != family.CheckpointRole })
	}
	if len(named) == 0 {
		return nil, nil
	}
	j := &clearingJudge{Clearing: clearing, folder: n.folder}
	if j.changed, err = n.lastChanged(ctx, j.dated(named)); err != nil {
		return nil, err
	}
	if j.Newest > 0 {
		j.newer = j.countNewer()
	}
	if j.pins, err = n.pins(); err != nil {
		return nil, err
	}

	for _, c := range named {
		why, err := j.needed(ctx, c)
		if err != nil {
			return nil, err
		}
		if why == "" {
			goes = append(goes, c)
		} else {
			n.kept = append(n.kept, Kept{c.Path, why})
		}
	}
	return n.withoutParents(goes), nil
}

// withoutParents returns the chats without those that have a child which stays, and notes these. A child is
// one by what the files say, not one that merely begins with the same messages.
func (n *renameSet) withoutParents(goes []*family.Chat) []*family.Chat {
	going := map[*family.Chat]bool{}
	for _, c := range goes {
		going[c] = true
	}

	staying := slices.DeleteFunc(slices.Clone(n.graph.Chats), func(c *family.Chat) bool { return going[c] })
	for _, c := range staying {
		child := c
		for child.Via != family.ByContent && going[child.Parent] {
			parent := child.Parent
			going[parent] = false
			n.kept = append(n.kept, Kept{parent.Path, "has a child that stays"})
			child = parent
		}
	}
	return slices.DeleteFunc(goes, func(c *family.Chat) bool { return !going[c] })
}

// dated returns the chats that are judged by when they were last changed: to find it they are read.
func (j *clearingJudge) dated(named []*family.Chat) []*family.Chat {
	switch {
	case j.Newest > 0 && !j.Checkpoints:
		return j.graph.Chats
	case !j.Before.IsZero():
		return named
	}
	return nil
}

// lastChanged returns when chats of the folder were last changed, as list tells it.
func (f *folder) lastChanged(ctx context.Context, chats []*family.Chat) (map[*family.Chat]time.Time, error) {
	if len(chats) == 0 {
		return nil, nil
	}
	byPath := map[string]*family.Chat{}
	changed := map[*family.Chat]time.Time{}
	reading := ops.InspectOptions{}
	for _, c := range chats {
		byPath[c.Path] = c
		changed[c] = c.Stamp.ModTime()
		reading.List.Paths = append(reading.List.Paths, c.Path)
	}

	reading.Each = func(r *inspect.Report, err error) error {
		if err == nil { // what cannot be read is judged where it is named
			changed[byPath[r.Path]] = ops.LastChanged(r)
		}
		return nil
	}

	_, err := ops.Inspect(ctx, reading)
	return changed, err
}

// pins returns the chats that the user has pinned on SillyTavern's welcome screen, nil for none. It is an
// error if the settings make no sense: which are pinned is not known then.
func (f *folder) pins() ([]byte, error) {
	if !f.graph.Folder.HasDir {
		return nil, nil
	}
	settings, err := readSettings(f.graph.Folder.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w, so it is unknown which chats are pinned", err)
	}
	return pinsIn(settings), nil
}

// clearingJudge judges the chats of a folder.
type clearingJudge struct {
	Clearing
	*folder
	changed map[*family.Chat]time.Time // of those that are dated
	newer   map[*family.Chat]int       // how many are newer of those among which the newest stay
	pins    []byte
}

// needed returns why a chat stays, "" if it may go as far as its children are concerned.
func (j *clearingJudge) needed(ctx context.Context, c *family.Chat) (why string, err error) {
	switch {
	case j.isYoung(c):
		return "too young", nil
	case j.Newest > 0 && j.newer[c] < j.Newest:
		return "one of the newest", nil
	case j.isOpen(c):
		return "is open", nil
	case j.isPinned(c):
		return "is pinned", nil
	case !j.Checkpoints:
		return "", nil
	}

	hasOwn, err := j.hasOwnMessages(ctx, c)
	if hasOwn {
		why = "has messages of its own"
	}
	return why, err
}

// isYoung reports whether a chat was changed too late. A checkpoint of an old chat may be new itself, so the
// date of its file counts too.
func (j *clearingJudge) isYoung(c *family.Chat) bool {
	if j.Before.IsZero() {
		return false
	}
	return j.changed[c].After(j.Before) || j.Checkpoints && c.Stamp.ModTime().After(j.Before)
}

// countNewer returns how many newer ones each chat has among those of which the newest stay. Of a chat of
// several groups that is the least.
func (j *clearingJudge) countNewer() map[*family.Chat]int {
	newestFirst := slices.Clone(j.graph.Chats)
	slices.SortFunc(newestFirst, func(a, b *family.Chat) int {
		return cmp.Or(j.date(b).Compare(j.date(a)), cmp.Compare(b.Name, a.Name))
	})

	counts := map[*family.Chat]int{}
	seen := map[any]int{}
	for _, c := range newestFirst {
		sets := j.among(c)
		for i, set := range sets {
			if i == 0 || seen[set] < counts[c] {
				counts[c] = seen[set]
			}
		}
		for _, set := range sets {
			seen[set]++
		}
	}
	return counts
}

// date returns by what the newest are chosen.
func (j *clearingJudge) date(c *family.Chat) time.Time {
	if j.Checkpoints {
		return c.Stamp.ModTime()
	}
	return j.changed[c]
}

// among returns the sets of chats of which the newest stay that a chat is in: of a checkpoint that of its
// parent, else those of its groups, or the one of the chats without a group.
func (j *clearingJudge) among(c *family.Chat) (sets []any) {
	if j.Checkpoints {
		if c.Role != family.CheckpointRole {
			return nil
		}
		return []any{c.Parent}
	}

	if len(c.Groups) == 0 {
		return []any{nil}
	}
	for _, group := range c.Groups {
		sets = append(sets, group)
	}
	return sets
}

// isOpen reports whether a chat is open in its card or in a group, also in one that does not list it.
func (j *clearingJudge) isOpen(c *family.Chat) bool {
	return j.graph.IsOpenInCard(c) || slices.ContainsFunc(j.graph.Groups, func(g *group.File) bool { return j.graph.IsOpenIn(g, c) })
}

func (j *clearingJudge) isPinned(c *family.Chat) bool {
	file := c.Name + names.Extension
	return slices.ContainsFunc(pinOwners(j.folder, c), func(owner pinOwner) bool {
		_, pinned := rawjson.Lookup(j.pins, owner.key(file))
		return pinned
	})
}

// hasOwnMessages reports whether a checkpoint has a message that its parent lacks.
func (j *clearingJudge) hasOwnMessages(ctx context.Context, c *family.Chat) (bool, error) {
	opt := chat.Options{Groups: j.lib, Any: true}
	parent, err := chat.Open(ctx, c.Parent.Path, opt)
	if err != nil {
		return false, err
	}
	defer parent.Close()
	checkpoint, err := chat.Open(ctx, c.Path, opt)
	if err != nil {
		return false, err
	}
	defer checkpoint.Close()
	own, err := chat.OwnMessages(ctx, parent, checkpoint)
	return own > 0, err
}
