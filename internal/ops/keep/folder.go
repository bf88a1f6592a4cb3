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
	below string // the paths in it begin with this
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
	store, err := history.OpenLook(ctx, StoreOf(root, opt.Store), opt.Now)
	if err != nil {
		return nil, ops.PathError(err)
	}
	if _, err = os.Stat(store.Path()); err != nil {
		_ = store.Close()
		return nil, fmt.Errorf("%s: %w", store.Path(), history.ErrNoStore)
	}
	f := &folder{}
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

func (f *folder) close() { _ = f.store.Close() }

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
		at := stamp(k.version.At)
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
