package keep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"stchat/internal/backups"
	"stchat/internal/changeset"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
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
var ErrGone = errors.New("the chat is gone: bring it back first, whole and under its own name")

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
	s, err := find(ctx, opt.Where)
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
