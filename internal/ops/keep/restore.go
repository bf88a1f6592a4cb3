package keep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"stchat/internal/backups"
	"stchat/internal/changeset"
	"stchat/internal/history"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/safefile"
)

// RestoreOptions says which version becomes which file.
type RestoreOptions struct {
	Where
	Pick    Pick
	Picked  bool   // Pick says which; else it is the newest that differs from the file
	Backup  string // one of SillyTavern's backups, by its path
	At      *int   // the last message; nil: all
	Name    string // of the new chat
	Output  string // the exact bytes, to this path or cut.Stdout
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

// RestoreResult is what became of a restore.
type RestoreResult = ops.Result[Restored]

// ErrNothing says that there is no version that differs from the file.
var ErrNothing = errors.New("no version differs from the chat as it is")

// Restore makes a chat of one of its versions.
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
	if opt.Output == cut.Stdout && opt.At == nil {
		d.Exact = true
		return r, s.stream(ctx, v, opt.Stdout)
	}
	content, done, err := s.spool(ctx, v)
	if err != nil {
		return nil, err
	}
	defer done()
	_, err = os.Lstat(s.path)
	gone := errors.Is(err, fs.ErrNotExist)
	switch {
	case opt.InPlace && gone:
		return nil, ops.PathError(err)
	case opt.InPlace:
		err = s.replace(ctx, &opt, v, content, r)
	case opt.Output != "" && opt.At == nil:
		err = s.export(ctx, &opt, content, r)
	case gone && opt.Name == "" && opt.At == nil && opt.Output == "":
		err = s.revive(ctx, &opt, v, content, r)
	default:
		s.branch(ctx, &opt, v, content, r)
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

// backupOf takes a backup that was named for the version.
func backupOf(ctx context.Context, opt *RestoreOptions) (*subject, *version, error) {
	s := &subject{}
	if err := s.locate(ctx, opt.Where); err != nil {
		return s, nil, err
	}
	info, err := os.Stat(opt.Backup)
	if err != nil {
		return s, nil, ops.PathError(err)
	}
	v := &version{file: opt.Backup, Version: history.Version{At: info.ModTime(), Source: history.FromBackup}}
	if _, at, dated := backups.Parse(info.Name(), time.Local); dated {
		v.At = at
	}
	return s, v, nil
}

// stream writes the exact bytes, once all of them were looked at.
func (s *subject) stream(ctx context.Context, v *version, w io.Writer) error {
	if v.file == "" {
		if err := s.store.WriteTo(ctx, io.Discard, &v.Version); err != nil {
			return err
		}
		return s.store.WriteTo(ctx, w, &v.Version)
	}
	return s.write(ctx, v, w)
}

// write writes a version's exact bytes.
func (s *subject) write(ctx context.Context, v *version, w io.Writer) error {
	if v.file == "" {
		return s.store.WriteTo(ctx, w, &v.Version)
	}
	f, err := os.Open(v.file)
	if err != nil {
		return ops.PathError(err)
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// spool writes a version to a file without a name, so that everything about it is known
// before anything appears.
func (s *subject) spool(ctx context.Context, v *version) (*os.File, func(), error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(s.write(ctx, v, w)) }()
	f, done, err := safefile.Spool(r, "")
	_ = r.Close() // ends the writing where the file could not be written
	return f, done, err
}

// branch writes a version as a branch of the chat.
func (s *subject) branch(ctx context.Context, opt *RestoreOptions, v *version, content *os.File, r *RestoreResult) {
	cutting := cut.Options{
		Kind: names.Branch, Sources: []string{s.path}, At: -1, Name: opt.Name, Output: opt.Output, Style: names.Suffix,
		Integrity: cut.IntegrityNew, Lorebook: cut.LorebookShare, Open: opt.Open, SkipDamaged: true, Data: opt.Data,
		Content: content, Changes: opt.Changes, Stdout: opt.Stdout, Now: opt.Now, NewUUID: opt.NewUUID,
	}
	if opt.At != nil {
		cutting.At = *opt.At
	}
	if cutting.Name == "" && cutting.Output == "" {
		cutting.Name = strings.NewReplacer(":", "h").Replace(v.At.Local().Format("2006-01-02 15:04"))
		cutting.Name += v.At.Local().Format("m05s")
	}
	made := cut.Run(ctx, cutting)[0]
	r.Doc.Document, r.Warnings, r.Notes, r.Outcome = made.Doc, made.Warnings, made.Notes, made.Outcome
	if n := made.Doc.SkippedTotal; n > 0 {
		r.Warn("%s: damaged lines of this version are left out: %d", s.path, n)
	}
}
