package keep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"stchat/internal/backups"
	"stchat/internal/changeset"
	"stchat/internal/history"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/userdir"
)

// RestoreOptions says which version to restore, and to which file.
type RestoreOptions struct {
	Where
	Pick    Pick
	Picked  bool   // use Pick; else the newest version that differs from the file
	Backup  string // the path of one of SillyTavern's backups
	At      *int   // the last message; nil: all
	Name    string // of the new chat
	Output  string // write the exact bytes to this path, or to Stdout for cut.Stdout
	InPlace bool
	Open    bool
	Changes changeset.Options
	NewUUID func() string
	Stdout  io.Writer
}

// Restored is the document of restore.
type Restored struct {
	cut.Document
	Rev       *int64  `json:"rev"` // null for a backup
	AtVersion *string `json:"at_version"`
	Exact     bool    `json:"exact"`
	InPlace   bool    `json:"in_place"`
}

// RestoreResult is the result of a restore.
type RestoreResult = ops.Result[Restored]

// ErrNothing means that there is no version that differs from the file.
var ErrNothing = errors.New("no version differs from the chat as it is")

// ErrGone means that a chat whose file is gone cannot be cut, named anew or replaced.
var ErrGone = error(&ops.Kind{Code: "not-found", Text: "the chat is gone: bring it back first, whole and under its own name"})

// Restore makes a chat from one of its versions. The error wraps [ErrUnknown], [ErrNoVersion]
// or [ErrNothing] if there is no such version, or [ErrGone].
func Restore(ctx context.Context, opt RestoreOptions) (*RestoreResult, error) {
	s, v, err := chosen(ctx, &opt)
	if s != nil {
		defer s.close()
	}
	if err != nil {
		return nil, err
	}
	r := &RestoreResult{}
	d := &r.Doc
	at := stamp(v.At)
	d.AtVersion = &at
	if v.file == "" {
		d.Rev = &v.Rev
	}
	on := &restoring{s, v, &opt, r}
	if opt.Output == cut.Stdout && opt.At == nil {
		return r, on.stream(ctx)
	}
	_, err = os.Lstat(s.path)
	gone := errors.Is(err, fs.ErrNotExist)
	switch {
	case gone && opt.Output == "" && (opt.InPlace || opt.Name != "" || opt.At != nil):
		return nil, fmt.Errorf("%s: %w", s.path, ErrGone)
	case opt.InPlace:
		err = on.replace(ctx)
	case opt.Output != "" && opt.At == nil:
		on.export(ctx)
	case gone && opt.Output == "":
		err = on.revive(ctx)
	default:
		err = on.branch(ctx)
	}
	return r, err
}

// chosen finds the chat and the version.
func chosen(ctx context.Context, opt *RestoreOptions) (*subject, *version, error) {
	if opt.Backup != "" {
		return backupOf(ctx, opt)
	}
	s, err := openSubject(ctx, opt.Where)
	if err != nil {
		return s, nil, err
	}
	if opt.Picked {
		i, err := s.pick(opt.Pick)
		if err != nil {
			return s, nil, err
		}
		return s, &s.versions[i], nil
	}
	now, err := s.compare(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, &s.versions[0], nil
	case err != nil:
		return s, nil, err
	}
	for i := range s.versions {
		if s.versions[i].Sum != string(now.Sum[:]) {
			return s, &s.versions[i], nil
		}
	}
	return s, nil, fmt.Errorf("%s: %w", s.path, ErrNothing)
}

// backupOf returns the backup that opt.Backup names as a version.
func backupOf(ctx context.Context, opt *RestoreOptions) (*subject, *version, error) {
	s := &subject{}
	if err := s.locate(ctx, opt.Where); err != nil {
		return s, nil, err
	}
	info, err := os.Stat(opt.Backup)
	if err != nil {
		return s, nil, ops.PathError(err)
	}
	if !info.Mode().IsRegular() {
		return s, nil, fmt.Errorf("%s: not a regular file", opt.Backup)
	}
	v := &version{file: opt.Backup, Version: history.Version{At: info.ModTime(), Source: history.FromBackup, Size: info.Size()}}
	if _, at, dated := backups.Parse(info.Name(), time.Local); dated {
		v.At = at
	}
	return s, v, nil
}

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
	found, oldest, err := asOfTime(ctx, store, strings.TrimSuffix(below, "x"), opt.AsOf)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0 && oldest.IsZero():
		return nil, fmt.Errorf("%s: %w: none is kept of this folder", opt.Folder, ErrNoVersion)
	case len(found) == 0:
		return nil, fmt.Errorf("%s: %w: the oldest is of %s", opt.Folder, ErrNoVersion, oldest.Local().Format(time.DateTime))
	}
	return writeAll(ctx, &opt, store, root, found), nil
}

// fileOf is a file and the version to write.
type fileOf struct {
	rel string
	v   history.Version
}

// asOfTime finds the files below a folder that existed at a time. oldest is the time of the
// first version of any file there, zero if there is none.
func asOfTime(ctx context.Context, store *history.Store, below string, at time.Time) (found []fileOf, oldest time.Time, err error) {
	chats, err := store.Chats(ctx)
	if err != nil {
		return nil, oldest, err
	}
	for i := range chats {
		c := &chats[i]
		if !strings.HasPrefix(c.Path(), below) || c.Kind == history.Backup || c.Gone() && !c.GoneAt.After(at) {
			continue
		}
		versions, err := store.Versions(ctx, c.ID)
		if err != nil {
			return nil, oldest, err
		}
		var last *history.Version
		for k := range versions {
			if oldest.IsZero() || versions[k].At.Before(oldest) {
				oldest = versions[k].At
			}
			if !versions[k].At.After(at) {
				last = &versions[k]
			}
		}
		if last != nil {
			found = append(found, fileOf{c.Path(), *last})
		}
	}
	return found, oldest, nil
}

// writeAll writes the files, each in a change set of its own.
func writeAll(ctx context.Context, opt *FolderOptions, store *history.Store, root string, found []fileOf) []*RestoreResult {
	into := changeset.RootFor(filepath.Join(opt.Output, "x"), filepath.Join(root, "x"))
	var one sync.Mutex // the store may be used by one goroutine at a time
	return ops.Each(ctx, opt.Changes, found, func(f fileOf) (*RestoreResult, changeset.Unit) {
		path := filepath.Join(opt.Output, filepath.FromSlash(f.rel))
		at := stamp(f.v.At)
		r := &RestoreResult{Doc: Restored{Rev: &f.v.Rev, AtVersion: &at, Exact: true, Document: cut.Document{
			Schema: 1, Source: filepath.Join(root, filepath.FromSlash(f.rel)), Path: path, Kind: "copy", At: -1, Messages: f.v.Messages, Bytes: f.v.Size,
			DryRun: opt.Changes.DryRun,
		}}}
		return r, changeset.Unit{Root: into, Draft: func(ctx context.Context, set *changeset.Set) error {
			one.Lock()
			defer one.Unlock()
			d, err := set.Create(path, "the version of that time", changeset.InFolder())
			if err != nil {
				return err
			}
			if err := store.WriteTo(ctx, d, &f.v); err != nil {
				return fmt.Errorf("%s, version %d: %w", f.rel, f.v.Rev, err)
			}
			return nil
		}}
	})
}
