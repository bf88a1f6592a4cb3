package keep

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/place/sendate"
	"stchat/internal/place/userdir"
)

// folder is a folder of a history.
type folder struct {
	*present
	named string // as the caller named it
	below string // the paths in it begin with this
}

// full returns the path of a file in the folder as that was named, of any other as its root was
// found.
func (f *folder) full(rel string) string {
	if in, ok := strings.CutPrefix(rel, f.below); ok {
		return filepath.Join(f.named, filepath.FromSlash(in))
	}
	return f.present.full(rel)
}

// openFolder opens the history of a folder: of a user's, or of one in it. It must be closed.
func openFolder(ctx context.Context, where Where) (*folder, error) {
	users := userdir.UsersIn(where.Chat)
	if len(users) > 1 {
		return nil, fmt.Errorf("%s: %w", where.Chat, ErrUsers)
	}
	if len(users) == 1 {
		where.Chat = users[0].Root
	}
	root := where.Chat
	if !userdir.IsUserDir(root) {
		if around, ok := userdir.Around(root); ok {
			root = around
		}
	}

	store, err := history.OpenRead(ctx, StoreOf(root, where.Store))
	if err != nil {
		return nil, ops.PathError(err)
	}
	f := &folder{present: &present{store: store, root: root}, named: where.Chat}
	if err = f.read(ctx); err == nil {
		f.below, err = relative(root, filepath.Join(where.Chat, "x"))
	}
	if err != nil {
		f.close()
		return nil, err
	}
	f.below = strings.TrimSuffix(f.below, "x")
	return f, nil
}

// Kept is a file as it was at a time: a document of log for a folder with a time.
type Kept struct {
	Schema   int    `json:"schema"`
	Path     string `json:"path" is:"path"`
	Messages *int   `json:"messages"` // null if the file is not a chat, or if nothing is kept
	Bytes    *int64 `json:"bytes"`
	Rev      *int64 `json:"rev"`   // null: nothing that is as old is kept any more
	Exact    bool   `json:"exact"` // false: what it held then was pruned; this is older

	version history.Version
	rel     string
	changed bool // by damage to the history, which may be about its name
}

// asOf is [FolderAsOf] for an open folder.
func (f *folder) asOf(ctx context.Context, at time.Time) (list []*Kept, err error) {
	run := f.runAt(at)
	for _, p := range f.places {
		if !strings.HasPrefix(p.Path, f.below) || run == 0 || !p.At(run) {
			continue
		}
		k := &Kept{Schema: 1, Path: f.full(p.Path), rel: p.Path}
		last, ok, err := f.store.Last(ctx, p.Chat, run)
		if err != nil {
			return nil, err
		}
		k.changed = p.Changed || last.Changed
		k.version = last
		if ok {
			k.Rev = &last.Rev
			k.Bytes = &last.Size
			k.Exact = last.Thin == 0 || last.Thin > run
			if history.KindOf(p.Path).IsChat() {
				k.Messages = &last.Messages
			}
		}

		list = append(list, k)
	}

	slices.SortFunc(list, func(a, b *Kept) int { return strings.Compare(a.rel, b.rel) })
	if len(list) > 0 {
		return list, nil
	}
	for _, p := range f.places {
		for _, r := range f.runs {
			if strings.HasPrefix(p.Path, f.below) && r.ID == p.First {
				return nil, fmt.Errorf("%s: %w: the oldest is of %s", f.full(f.below), ErrNoVersion, r.At.Local().Format(time.DateTime))
			}
		}
	}
	return nil, fmt.Errorf("%s: %w: none is kept of this folder", f.full(f.below), ErrNoVersion)
}

// FolderAsOf returns the files of a folder as they were at a time, by path. The error wraps
// [ErrNoVersion] if there were none.
func FolderAsOf(ctx context.Context, where Where) ([]*Kept, error) {
	f, err := openFolder(ctx, where)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return f.asOf(ctx, where.AsOf)
}

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

	chat int64
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
func FolderLog(ctx context.Context, where Where, since time.Time, limit int, each func(Ran) error) error {
	f, err := openFolder(ctx, where)
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

	d := newDiffer(f.store)
	n := 0
	for i := range slices.Backward(f.runs) {
		r := &f.runs[i]
		if r.At.Before(since) || limit > 0 && n == limit {
			break
		}
		doc := Ran{Schema: 1, Run: r.ID, At: sendate.Format(r.At), Note: r.Note, Changes: f.moves(r.ID)}
		for _, v := range byRun[r.ID] {
			if !strings.HasPrefix(v.Path, f.below) {
				continue
			}
			k := changeOf(doc.Changes, v.Chat)
			if k < 0 {
				k = len(doc.Changes)
				doc.Changes = append(doc.Changes, RanChange{chat: v.Chat, Path: f.full(v.Path), Change: IsChanged})
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
func (f *folder) moves(run int64) (list []RanChange) {
	began := map[int64]bool{}
	for i := range f.places {
		p := &f.places[i]
		if history.KindOf(p.Path) == history.Backup {
			continue
		}
		in, change := strings.HasPrefix(p.Path, f.below), ""
		if p.Until == run && in {
			change = IsGone
		} else if p.First == run {
			if k := changeOf(list, p.Chat); k >= 0 {
				from := list[k].Path
				list[k].Path = f.full(p.Path)
				list[k].From = &from
				list[k].Change = IsRenamed
			} else if in {
				change = IsNew
				if began[p.Chat] {
					change = IsBack
				}
			}
		}

		if change != "" {
			list = append(list, RanChange{chat: p.Chat, Path: f.full(p.Path), Change: change})
		}
		began[p.Chat] = true
	}
	return list
}

// changeOf returns the index of what was found of a file, below 0 if that is nothing.
func changeOf(list []RanChange, chat int64) int {
	return slices.IndexFunc(list, func(c RanChange) bool { return c.chat == chat })
}

// count notes what a version changed, compared with the one before.
func (c *RanChange) count(ctx context.Context, d *differ, v *history.Version, all []*history.Version) error {
	c.Rev = &v.Rev
	if !history.KindOf(v.Path).IsChat() {
		return nil
	}
	var older []lineRef
	newer, _, err := d.messages(ctx, &version{Version: *v})
	if i := slices.Index(all, v); i > 0 && err == nil {
		older, _, err = d.messages(ctx, &version{Version: *all[i-1]})
	}
	if err != nil {
		return nil //nolint:nilerr // a damaged version counts no changes, and verify names it
	}
	added, changed, removed := count(d.changes(ctx, older, newer))
	c.Added = &added
	c.Changed = &changed
	c.Removed = &removed
	return ctx.Err()
}

// Gone is what a history knows of the chats that are gone now.
type Gone struct {
	folder *folder
	ids    map[string]int64 // the last file of each name that is gone, by its path without an extension
}

// OpenGone opens the history of a user's folder, and finds which chats are gone. It must be closed.
func OpenGone(ctx context.Context, where Where) (*Gone, error) {
	f, err := openFolder(ctx, where)
	if err != nil {
		return nil, err
	}
	if err := f.look(ctx, where.Now, "", false); err != nil {
		f.close()
		return nil, err
	}
	g := &Gone{folder: f, ids: map[string]int64{}}
	for _, c := range f.list {
		if isChat(c.Path) && f.paths[c.ID] == "" {
			g.ids[withoutExtension(f.full(c.Path))] = c.ID
		}
	}
	return g, nil
}

// Close closes the history.
func (g *Gone) Close() { g.folder.close() }

// Names returns the names of the chats that are gone from a folder, which is named relative to the
// user's, with slashes.
func (g *Gone) Names(folder string) (list []string) {
	inside := g.folder.full(folder)
	for stem := range g.ids {
		if filepath.Dir(stem) == inside {
			list = append(list, filepath.Base(stem))
		}
	}
	slices.Sort(list)
	return list
}

// GoneChat is the last version of a chat that is gone.
type GoneChat struct {
	At       string // RFC 3339
	Messages int
}

// NamesOf returns the names of the chats that are gone, and of which a group's file is the last that
// listed them.
func (g *Gone) NamesOf(ctx context.Context, groupFile string) []string {
	return g.folder.listedLast(ctx, groupFile, g.Names(groupChats))
}

// Chat returns what is known of the chat that is gone from a path; ok is false if no version is kept.
func (g *Gone) Chat(ctx context.Context, path string) (chat GoneChat, ok bool) {
	id := g.ids[withoutExtension(path)]
	last, ok, err := g.folder.store.Last(ctx, id, newest)
	if err != nil || !ok {
		return chat, false
	}
	return GoneChat{At: sendate.Format(last.At), Messages: last.Messages}, true
}

func withoutExtension(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }
