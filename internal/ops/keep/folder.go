package keep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"stchat/internal/changeset"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/userdir"
)

// FolderOptions says which folder to restore, as of when, and where to.
type FolderOptions struct {
	Folder  string // a user's folder, or one in it
	Store   string
	AsOf    time.Time
	Output  string // a folder that is absent or empty
	Changes changeset.Options
}

// ErrNotEmpty means that the folder to restore to is not empty.
var ErrNotEmpty = errors.New("is not empty; name a folder that is empty or not there yet")

// RestoreFolder writes every file of a folder, as it was at opt.AsOf, below opt.Output,
// under the name that it has now or had last. It returns a result for each file. The error
// wraps [ErrNotEmpty], or [ErrNoVersion] if the store has no file of that time.
func RestoreFolder(ctx context.Context, opt FolderOptions) ([]*RestoreResult, error) {
	entries, err := os.ReadDir(opt.Output)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, ops.PathError(err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%s: %w", opt.Output, ErrNotEmpty)
	}
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
	defer store.Close()
	below, err := relative(root, filepath.Join(opt.Folder, "x"))
	if err != nil {
		return nil, err
	}
	found, err := asOfTime(ctx, store, strings.TrimSuffix(below, "x"), opt.AsOf)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: %w of that time", opt.Folder, ErrNoVersion)
	}
	return writeAll(ctx, &opt, store, root, found), nil
}

// fileOf is a file and the version to write.
type fileOf struct {
	rel string
	v   history.Version
}

// asOfTime finds the files below a folder that existed at a time.
func asOfTime(ctx context.Context, store *history.Store, below string, at time.Time) ([]fileOf, error) {
	chats, err := store.Chats(ctx)
	if err != nil {
		return nil, err
	}
	var found []fileOf
	for i := range chats {
		c := &chats[i]
		if !strings.HasPrefix(c.Path(), below) || c.Kind == history.Backup || c.Gone() && !c.GoneAt.After(at) {
			continue
		}
		versions, err := store.Versions(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		var last *history.Version
		for k := range versions {
			if !versions[k].At.After(at) {
				last = &versions[k]
			}
		}
		if last != nil {
			found = append(found, fileOf{c.Path(), *last})
		}
	}
	return found, nil
}

// writeAll writes the files, each in a change set of its own.
func writeAll(ctx context.Context, opt *FolderOptions, store *history.Store, root string, found []fileOf) []*RestoreResult {
	var one sync.Mutex // the store may be used by one goroutine at a time
	results := make([]*RestoreResult, len(found))
	units := make([]changeset.Unit, len(found))
	for i, f := range found {
		path := filepath.Join(opt.Output, filepath.FromSlash(f.rel))
		at := stamp(f.v.At)
		results[i] = &RestoreResult{Doc: Restored{Rev: &f.v.Rev, AtVersion: &at, Exact: true, Document: cut.Document{
			Schema: 1, Source: filepath.Join(root, filepath.FromSlash(f.rel)), Path: path, Kind: "copy", At: -1, Messages: f.v.Messages, Bytes: f.v.Size,
			DryRun: opt.Changes.DryRun,
		}}}
		units[i] = changeset.Unit{Root: opt.Output, Draft: func(ctx context.Context, set *changeset.Set) error {
			one.Lock()
			defer one.Unlock()
			d, err := set.Create(path, "the version of that time", changeset.InFolder())
			if err != nil {
				return ops.PathError(err)
			}
			return store.WriteTo(ctx, d, &f.v)
		}}
	}
	for i, o := range changeset.Run(ctx, units, opt.Changes) {
		results[i].Outcome = o
		results[i].Doc.Written = ops.WrittenBy(o)
	}
	return results
}
