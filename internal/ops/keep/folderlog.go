package keep

import (
	"context"
	"slices"
	"strings"
	"time"

	"stchat/internal/history"
)

// Ran is a snapshot and what it found: the document of log for a folder.
type Ran struct {
	Schema  int         `json:"schema"`
	Run     int64       `json:"run"`
	At      string      `json:"at"` // RFC 3339
	Note    string      `json:"note"`
	Changes []RanChange `json:"changes"`
}

// RanChange is what a snapshot found of one file.
type RanChange struct {
	Path    string  `json:"path" is:"path"`
	From    *string `json:"from" is:"path"` // of a renamed one, where it was
	Change  string  `json:"change"`         // one of the constants below
	Rev     *int64  `json:"rev"`            // null: it has no new version
	Added   *int    `json:"added"`          // messages; null if it has no new version, or is no chat
	Changed *int    `json:"changed"`
	Removed *int    `json:"removed"`
}

// What a snapshot may find of a file.
const (
	IsNew     = "new"
	IsChanged = "changed"
	IsRenamed = "renamed"
	IsGone    = "gone"
	IsBack    = "back" // it was gone
)

// FolderLog calls each for the snapshots that found something in a folder, or have a note, the
// newest first: for all that are not older than since, or limit at most if that is above 0.
func FolderLog(ctx context.Context, opt FolderOptions, since time.Time, limit int, each func(Ran) error) error {
	f, err := openFolder(ctx, &opt)
	if err != nil {
		return err
	}
	defer f.close()
	versions, err := f.store.VersionsSince(ctx, 0)
	if err != nil {
		return err
	}
	byRun, byChat := map[int64][]*history.Version{}, map[int64][]*history.Version{}
	for i := range versions {
		if v := &versions[i]; v.Snapshot != 0 {
			byRun[v.Snapshot] = append(byRun[v.Snapshot], v)
			byChat[v.Chat] = append(byChat[v.Chat], v)
		}
	}
	d := newDiffer(&subject{store: f.store})
	n := 0
	for i := range slices.Backward(f.runs) {
		r := &f.runs[i]
		if r.At.Before(since) || limit > 0 && n == limit {
			break
		}
		doc := Ran{Schema: 1, Run: r.ID, At: stamp(r.At), Note: r.Note, Changes: []RanChange{}}
		for _, c := range f.moves(r.ID) {
			doc.Changes = append(doc.Changes, *c)
		}
		for _, v := range byRun[r.ID] {
			if !strings.HasPrefix(v.Path, f.below) {
				continue
			}
			path := f.full(v.Path)
			k := slices.IndexFunc(doc.Changes, func(c RanChange) bool { return c.Path == path && c.Change != IsGone })
			if k < 0 {
				k = len(doc.Changes)
				doc.Changes = append(doc.Changes, RanChange{Path: path, Change: IsChanged})
			}
			if err := doc.Changes[k].count(ctx, d, v, byChat[v.Chat]); err != nil {
				return err
			}
		}
		if len(doc.Changes) == 0 && r.Note == "" {
			continue
		}
		slices.SortStableFunc(doc.Changes, func(a, b RanChange) int { return strings.Compare(a.Path, b.Path) })
		if err := each(doc); err != nil {
			return err
		}
		n++
	}
	return nil
}

// moves returns the files of the folder that a snapshot found new, renamed, gone or back.
func (f *folder) moves(run int64) (list []*RanChange) {
	of, began := map[int64]*RanChange{}, map[int64]bool{}
	add := func(p *history.Place) *RanChange {
		c := &RanChange{Path: f.full(p.Path)}
		of[p.Chat] = c
		list = append(list, c)
		return c
	}
	for i := range f.places {
		p := &f.places[i]
		if history.KindOf(p.Path) == history.Backup {
			continue
		}
		if p.Until == run && strings.HasPrefix(p.Path, f.below) {
			add(p).Change = IsGone
		}
		if p.First == run && (of[p.Chat] != nil || strings.HasPrefix(p.Path, f.below)) {
			switch c := of[p.Chat]; {
			case c != nil:
				from := c.Path
				c.Path, c.From, c.Change = f.full(p.Path), &from, IsRenamed
			case began[p.Chat]:
				add(p).Change = IsBack
			default:
				add(p).Change = IsNew
			}
		}
		began[p.Chat] = true
	}
	return list
}

// count notes what a version changed, compared with the one before.
func (c *RanChange) count(ctx context.Context, d *differ, v *history.Version, all []*history.Version) error {
	c.Rev = &v.Rev
	if !history.KindOf(v.Path).IsChat() {
		return nil
	}
	var lists [2][]lineRef
	i := slices.Index(all, v)
	for k, of := range all[max(0, i-1) : i+1] {
		lines, err := d.messages(ctx, &version{Version: *of})
		if err != nil {
			return nil //nolint:nilerr // a damaged version counts no changes, and verify names it
		}
		lists[k+1-min(i, 1)] = lines
	}
	added, changed, removed := count(d.changes(ctx, lists[0], lists[1]))
	c.Added, c.Changed, c.Removed = &added, &changed, &removed
	return ctx.Err()
}

// GoneChat is a chat that is gone, with its last version: a document of log --gone.
type GoneChat struct {
	Schema   int     `json:"schema"`
	Path     string  `json:"path" is:"path"`
	Rev      int64   `json:"rev"`
	At       string  `json:"at"`
	Messages int     `json:"messages"`
	Command  *string `json:"command"` // what brings it back

	Name string `json:"-"` // the name that restore must give, since another chat has the path or had it since
}

// GoneChats calls each for the chats of a folder that are gone now, by path.
func GoneChats(ctx context.Context, opt FolderOptions, each func(*GoneChat) error) error {
	f, err := openFolder(ctx, &opt)
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.lookAll(ctx, opt.Now); err != nil {
		return err
	}
	for _, c := range f.list {
		if !isChat(c.Path) || f.path[c.ID] != "" || !strings.HasPrefix(c.Path, f.below) {
			continue
		}
		last, ok, err := f.store.Last(ctx, c.ID, newest)
		if ok && err == nil {
			g := &GoneChat{Schema: 1, Path: f.full(c.Path), Rev: last.Rev, At: stamp(last.At), Messages: last.Messages}
			if isFile(g.Path) || f.last(c.Path) != c.ID {
				g.Name = freeName(g.Path, revName(last.Rev))
			}
			err = each(g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
