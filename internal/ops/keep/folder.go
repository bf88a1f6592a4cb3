package keep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stchat/internal/changeset"
	"stchat/internal/history"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/sendate"
	"stchat/internal/userdir"
)

// FolderOptions says which folder is meant, and which store to look in.
type FolderOptions struct {
	Folder  string // a user's folder, or one in it
	Store   string
	AsOf    time.Time
	Now     time.Time
	Output  string // of a restore: a folder that is absent or empty
	Changes changeset.Options
}

// ErrNotEmpty means that the folder to restore to is not empty.
var ErrNotEmpty = errors.New("is not empty; name a folder that is empty or not there yet")

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

// openFolder opens the history of a folder.
func openFolder(ctx context.Context, opt *FolderOptions) (*folder, error) {
	users := userdir.Users(opt.Folder)
	if len(users) > 1 {
		return nil, fmt.Errorf("%s: %w", opt.Folder, ErrUsers)
	}
	if len(users) == 1 {
		opt.Folder = users[0].Root
	}
	root := opt.Folder
	if !userdir.IsUserDir(root) {
		if around, ok := userdir.Around(root); ok {
			root = around
		}
	}
	store, err := history.OpenRead(ctx, StoreOf(root, opt.Store))
	if err != nil {
		return nil, ops.PathError(err)
	}
	f := &folder{named: opt.Folder}
	if f.present, err = newPresent(ctx, store, root); err == nil {
		f.below, err = relative(root, filepath.Join(opt.Folder, "x"))
	}
	if err != nil {
		_ = store.Close()
		return nil, err
	}
	f.below = strings.TrimSuffix(f.below, "x")
	return f, nil
}

func (f *folder) close() { _ = f.store.Close() } // it was only read

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

// asOf lists the files of the folder as they were at a time, by path. The error wraps
// [ErrNoVersion] if there were none.
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
		if k.version = last; ok {
			k.Rev, k.Bytes, k.Exact = &last.Rev, &last.Size, last.Thin == 0 || last.Thin > run
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

// FolderAsOf calls each for the files of a folder as they were at opt.AsOf.
func FolderAsOf(ctx context.Context, opt FolderOptions, each func(*Kept) error) error {
	f, err := openFolder(ctx, &opt)
	if err != nil {
		return err
	}
	defer f.close()
	list, err := f.asOf(ctx, opt.AsOf)
	for _, k := range list {
		if err := each(k); err != nil {
			return err
		}
	}
	return err
}

// RestoreFolder writes every file of a folder, as it was at opt.AsOf and under the name that it
// had then, below opt.Output. It returns a result for each file; of one that is not kept any
// more, it has an error. The error wraps [ErrNotEmpty], or [ErrNoVersion] if the store has no
// file of that time.
func RestoreFolder(ctx context.Context, opt FolderOptions) ([]*RestoreResult, error) {
	if err := ops.JudgeOutput(filepath.Join(opt.Output, "x"+names.Extension), true); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(opt.Output)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, ops.PathError(err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%s: %w", opt.Output, ErrNotEmpty)
	}
	f, err := openFolder(ctx, &opt)
	if err != nil {
		return nil, err
	}
	defer f.close()
	list, err := f.asOf(ctx, opt.AsOf)
	if err != nil {
		return nil, err
	}
	into := changeset.RootFor(filepath.Join(opt.Output, "x"), filepath.Join(f.root, "x"))
	var one sync.Mutex // the store may be used by one goroutine at a time
	return ops.Each(ctx, opt.Changes, list, func(k *Kept) (*RestoreResult, changeset.Unit) {
		path := filepath.Join(opt.Output, filepath.FromSlash(k.rel))
		at := sendate.Format(k.version.At)
		r := &RestoreResult{Doc: Restored{Rev: k.Rev, AtVersion: &at, Exact: k.Exact, Document: cut.Document{
			Schema: 1, Source: k.Path, Path: path, Kind: "copy", At: -1, Messages: k.version.Messages, Bytes: k.version.Size, DryRun: opt.Changes.DryRun,
		}}}
		if k.Rev != nil && !k.Exact {
			r.Warn("%s: what it held then was pruned; this is version %d, of %s", path, *k.Rev, k.version.At.Local().Format(time.DateTime))
		}
		return r, changeset.Unit{Root: into, Draft: func(ctx context.Context, set *changeset.Set) error {
			if k.Rev == nil {
				return fmt.Errorf("%s: %w: what it held then was pruned", k.Path, ErrNoVersion)
			}
			if k.changed {
				return fmt.Errorf("%s: %w", k.Path, ErrChangedRow)
			}
			one.Lock()
			defer one.Unlock()
			d, err := set.Create(path, "the version of that time", changeset.InFolder())
			if err != nil {
				return err
			}
			if err := f.store.WriteTo(ctx, d, &k.version); err != nil {
				return fmt.Errorf("%s, version %d: %w", k.rel, k.version.Rev, err)
			}
			return nil
		}}
	}), nil
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
		doc := Ran{Schema: 1, Run: r.ID, At: sendate.Format(r.At), Note: r.Note, Changes: []RanChange{}}
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
	var older []lineRef
	newer, err := d.messages(ctx, &version{Version: *v})
	if i := slices.Index(all, v); i > 0 && err == nil {
		older, err = d.messages(ctx, &version{Version: *all[i-1]})
	}
	if err != nil {
		return nil //nolint:nilerr // a damaged version counts no changes, and verify names it
	}
	added, changed, removed := count(d.changes(ctx, older, newer))
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
			g := &GoneChat{Schema: 1, Path: f.full(c.Path), Rev: last.Rev, At: sendate.Format(last.At), Messages: last.Messages}
			g.Name = f.aside(g.Path, &last)
			err = each(g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
