package keep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/cut"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/chat"
)

// RestoreOptions says which version to restore, and to which file.
type RestoreOptions struct {
	Where          // its zero Pick is the newest version that differs from the file
	Backup  string // the path of one of SillyTavern's backups
	At      *int   // the last message; nil: all
	Name    string // of the new chat
	Output  string // write the exact bytes to this path, or to Stdout for cut.Stdout; of a folder, one that is absent or empty
	InPlace bool
	Open    bool
	Changes changeset.Options
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

var (
	// ErrNothing means that there is no version that differs from the file.
	ErrNothing = errors.New("no version differs from what is there")
	// ErrGone means that a chat whose file is gone cannot be cut, named anew or replaced.
	ErrGone = error(&ops.Kind{Code: "not-found", Text: "the chat is gone: bring it back first, whole and under its own name"})
	// ErrGoneFile is [ErrGone] of a file that is no chat.
	ErrGoneFile = error(&ops.Kind{Code: "not-found", Text: "the file is gone: bring it back whole and under its own name, or with --output under another"})
	// ErrChangedRow means that the history is damaged where it says what a version is.
	ErrChangedRow = error(&ops.Kind{Code: "damaged", Text: "the history is damaged where it says what this is: its name, its time, or whose it is", Hint: "changed-row"})
	// ErrNoChat means that a file is no chat, so a copy of it beside it would be of no use.
	ErrNoChat = error(&ops.Kind{Code: "usage", Text: "is there, and not a chat: say where its version should go", Hint: "restore"})
	// ErrStray means that a chat is where SillyTavern looks for none, so a new one beside it would be of no use.
	ErrStray = error(&ops.Kind{Code: "usage", Text: "SillyTavern looks for no chats in this folder, so a new one beside it would not be seen", Hint: "restore"})
	// ErrNotEmpty means that the folder to restore to is not empty.
	ErrNotEmpty = errors.New("is not empty; name a folder that is empty or not there yet")
)

// Restore makes a file from one of its versions: it finds which version is meant ([chosen]), where it
// goes ([whereTo]), and what of its time comes along ([restoring.join]). The error wraps
// [ErrUnknown], [ErrNoVersion], [ErrOthers], [ErrNobody] or [ErrNothing] if there is no such version,
// or [ErrGone], [ErrGoneFile], [ErrNoChat] or [ErrStray].
func Restore(ctx context.Context, opt RestoreOptions) (*RestoreResult, error) {
	s, v, err := chosen(ctx, &opt)
	defer s.close()
	if err != nil {
		return nil, err
	}
	target, err := whereTo(standingOf(s, v, &opt), &opt)
	if errors.Is(err, ErrChangedRow) {
		return nil, fmt.Errorf("%s, version %d: %w", s.path, v.Rev, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}

	on := newRestoring(s, v, opt)
	defer on.done()
	if s.note != "" {
		on.res.Note("%s", s.note)
	}
	switch target {
	case toStdout:
		return on.res, on.print(ctx)
	case asBranch:
		return on.res, on.branch(ctx)
	case toFile:
		on.export(opt.Output, "the version")
	case besideIt:
		err = on.reviveBeside(ctx)
	case toItsPlace:
		err = on.revive(ctx, s.path)
	case overIt:
		err = on.replace(ctx)
	}
	if err == nil {
		commit(ctx, on.opt.Changes, []*restoring{on})
		on.keepRestored(ctx)
	}
	return on.res, err
}

// target is where a version goes.
type target int

const (
	toStdout   target = iota // its exact bytes
	toFile                   // its exact bytes, and nothing that belongs to the chat
	toItsPlace               // the chat is gone, and comes back as it was
	besideIt                 // likewise, but another chat has its path
	overIt                   // in the place of the chat as it is
	asBranch                 // a new chat, whose parent the chat is
)

// standing is how a version and the file that is meant stand to each other.
type standing struct {
	damaged bool // the history is damaged where it says what the version is
	gone    bool // no file has the path
	foreign bool // the version is of another file than the one that has the path, or had it last
	noChat  bool // the file is no chat
	stray   bool // SillyTavern looks for no chats in its folder
}

func standingOf(s *subject, v *version, opt *RestoreOptions) standing {
	_, missing := os.Lstat(s.path)
	stands := standing{
		damaged: v.Changed,
		gone:    errors.Is(missing, fs.ErrNotExist),
		noChat:  !history.KindOf(s.rel).IsChat(),
		stray:   ops.JudgeChatPlace(s.path) != nil,
	}

	ofTheStore := v.file == "" && !v.lone
	switch {
	case !ofTheStore:
	case !stands.gone:
		stands.foreign = v.Chat != s.ids[s.rel]
	case opt.Name != "": // else it comes back in its own place
		stands.foreign = v.Chat != s.id
	}
	return stands
}

// whereTo decides where a version goes. The error is [ErrChangedRow], [ErrGone], [ErrGoneFile], [ErrNoChat] or
// [ErrStray].
func whereTo(stands standing, opt *RestoreOptions) (target, error) {
	elsewhere := opt.Output != ""
	whole := opt.At == nil
	if elsewhere && whole {
		if opt.Output == cut.Stdout {
			return toStdout, nil
		}
		return toFile, nil
	}

	if stands.damaged && !elsewhere {
		return 0, ErrChangedRow
	}

	if !elsewhere && (stands.gone || stands.foreign) {
		renamed := opt.Name != "" && !stands.foreign
		isMore := opt.InPlace || !whole || renamed
		switch {
		case isMore && stands.noChat:
			return 0, ErrGoneFile
		case isMore:
			return 0, ErrGone
		}
		if stands.foreign {
			return besideIt, nil
		}
		return toItsPlace, nil
	}

	switch {
	case opt.InPlace:
		return overIt, nil
	case stands.noChat:
		return 0, ErrNoChat
	case stands.stray && !elsewhere:
		return 0, ErrStray
	}
	return asBranch, nil
}

// print writes the version's exact bytes to the output. One of the store is read through first, so
// that nothing of a damaged one is written.
func (r *restoring) print(ctx context.Context) error {
	r.res.Doc.Exact = true
	if r.v.file == "" {
		err := r.s.write(ctx, r.v, io.Discard)
		if err != nil {
			return err
		}
	}
	return r.s.write(ctx, r.v, r.opt.Stdout)
}

// reviveBeside brings back a chat whose path another has now.
func (r *restoring) reviveBeside(ctx context.Context) error {
	path, err := r.beside(places{})
	if err != nil {
		return err
	}
	return r.revive(ctx, path)
}

// RestoreFolder writes every file of a folder, as it was at opt.AsOf and under the name that it
// had then, below opt.Output. It returns a result for each file; of one that is not kept any
// more, it has an error. The error wraps [ErrNotEmpty], or [ErrNoVersion] if the store has no
// file of that time.
func RestoreFolder(ctx context.Context, opt RestoreOptions) ([]*RestoreResult, error) {
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
	f, err := openFolder(ctx, opt.Where)
	if err != nil {
		return nil, err
	}
	defer f.close()
	kept, err := f.asOf(ctx, opt.AsOf)
	if err != nil {
		return nil, err
	}
	into := changeset.RootFor(filepath.Join(opt.Output, "x"), filepath.Join(f.root, "x"))
	var list []*restoring
	for _, k := range kept {
		r := newRestoring(&subject{present: f.present, path: k.Path}, &version{Version: k.version}, opt)
		r.export(filepath.Join(opt.Output, filepath.FromSlash(k.rel)), "the version of that time")
		r.root = into
		r.res.Doc.Rev = k.Rev
		r.res.Doc.Exact = k.Exact
		switch {
		case k.Rev == nil:
			r.refused = fmt.Errorf("%s: %w: what it held then was pruned", k.Path, ErrNoVersion)
		case k.changed:
			r.refused = fmt.Errorf("%s: %w", k.Path, ErrChangedRow)
		}

		if k.Rev != nil && !k.Exact {
			r.res.Warn("%s: what it held then was pruned; this is version %d, of %s", r.path, *k.Rev, k.version.At.Local().Format(time.DateTime))
		}
		list = append(list, r)
	}
	return commit(ctx, opt.Changes, list), nil
}

// chosen finds the chat and the version. The subject must be closed, with an error too.
func chosen(ctx context.Context, opt *RestoreOptions) (*subject, *version, error) {
	if opt.Backup != "" {
		return backupOf(ctx, opt)
	}
	s, err := openSubject(ctx, opt.Where)
	if err != nil && (!errors.Is(err, ErrUnknown) || opt.Rev <= 0) { // that may be a backup's, of a chat that is not known
		return s, nil, err
	}
	if opt.Pick != (Pick{}) {
		v, err := s.pick(ctx, opt.Pick, opt.Output != "" || opt.Name != "")
		return s, v, err
	}
	sum, err := s.sum(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, nil, err
	}
	newest, none := s.pick(ctx, Pick{}, false)
	if err != nil || none != nil {
		return s, newest, none
	}
	i := slices.IndexFunc(s.versions, func(v version) bool { return v.Sum != sum })
	if i < 0 {
		return s, nil, fmt.Errorf("%s: %w", s.path, ErrNothing)
	}
	return s, &s.versions[i], nil
}

// backupOf returns the backup that opt.Backup names as a version. The error wraps [chat.ErrNotChat] if it
// is no chat, or is to become what is none.
func backupOf(ctx context.Context, opt *RestoreOptions) (*subject, *version, error) {
	where := opt.Where
	if opt.Data == "" && opt.Store == "" && isLoose(opt.Chat) {
		where.Data = filepath.Dir(opt.Chat) // it needs no history for that
	}
	s, err := locate(ctx, where)
	if err != nil {
		return s, nil, err
	}
	if asked := s.full(s.asked); s.asked != s.rel && !isFile(asked) {
		s.goTo(s.asked) // whose this was does not matter: the backup is put where it is asked for
		s.note = ""
	}
	if none, is := errors.AsType[*address.NoneError](s.none); is && ops.JudgeChatPlace(s.path) != nil {
		return s, nil, none // there is no such owner
	}
	info, err := os.Stat(opt.Backup)
	if err != nil {
		return s, nil, ops.PathError(err)
	}
	if !info.Mode().IsRegular() {
		return s, nil, fmt.Errorf("%s: not a regular file", opt.Backup)
	}
	if err := chat.CheckContent(ctx, opt.Backup); err != nil {
		return s, nil, ops.PathError(err)
	}
	if err := chat.CheckName(s.path); err != nil { // a backup is one of a chat
		return s, nil, err
	}
	v := &version{file: opt.Backup, Version: history.Version{At: info.ModTime(), Source: history.FromBackup, Size: info.Size()}}
	if _, at, dated := backups.Parse(info.Name(), time.Local); dated {
		v.At = at
	}
	return s, v, nil
}

// isLoose reports whether a chat is named by a path outside of every user's folder.
func isLoose(given string) bool {
	if userdir.RoleOf(withExtension(given)) != userdir.Outside {
		return false
	}
	_, users := userdir.UserAround()
	return users == 0 || address.IsPath(given)
}

// branch writes a version as a branch of the chat.
func (r *restoring) branch(ctx context.Context) error {
	if err := r.spool(ctx); err != nil {
		return err
	}
	sidecars, err := r.sidecarsThen(ctx)
	if err != nil {
		return err
	}
	opt := r.opt
	cutting := cut.Options{
		Kind: names.Branch, Sources: []string{r.s.path}, At: ops.Or(opt.At, -1), Name: opt.Name, Output: opt.Output, Style: names.Suffix,
		Integrity: cut.IntegrityNew, Lorebook: cut.LorebookShare, Open: opt.Open, SkipDamaged: true, Data: opt.Data,
		Content: r.content, Sidecars: sidecars, Changes: opt.Changes, Stdout: opt.Stdout,
	}

	if cutting.Name == "" && cutting.Output == "" {
		cutting.Name = freeName(r.s.path, timeName(r.v.At), places{})
	}
	made := cut.Run(ctx, cutting)[0]
	r.res.Doc.Document = made.Doc
	r.res.Warnings = made.Warnings
	r.res.Facts = made.Facts
	r.res.Outcome = made.Outcome
	lines, mark := made.Doc.LeftOut()
	if lines > 0 {
		r.res.Warn("%s: damaged lines of this version are left out: %d", r.s.path, lines)
	}
	if mark {
		r.res.Warn("%s: this version begins with a byte order mark (BOM), and is read without it", r.s.path)
	}
	return nil
}

// places are the paths that one call gives to chats, by their real paths.
type places map[string]bool

// taken reports whether a path is given to a chat, or has a file.
func (p places) taken(path string) bool { return p[userdir.RealPath(path)] || isFile(path) }

// give gives a path to a chat.
func (p places) give(path string) { p[userdir.RealPath(path)] = true }

// beside returns the path of a new chat beside the one that is meant: by the name that was asked for,
// else by the version's time.
func (r *restoring) beside(given places) (string, error) {
	if r.opt.Name == "" {
		return besideOf(r.s.path, freeName(r.s.path, timeName(r.v.At), given)), nil
	}
	name, err := names.New(r.opt.Name, names.MaxBytes)
	return besideOf(r.s.path, name), err
}

// freeName returns a name for a new chat beside another whose path is not taken yet.
func freeName(path, name string, given places) string {
	free := name
	for n := 2; given.taken(besideOf(path, free)); n++ {
		free = fmt.Sprintf("%s (%d)", name, n)
	}
	return free
}

// besideOf returns the path of a new chat beside another, whose name is shortened if SillyTavern could
// not save a chat of both names.
func besideOf(path, name string) string {
	file := names.Derive(userdir.ChatName(path), "__", name, names.MaxBytes) + names.Extension
	return filepath.Join(filepath.Dir(path), file)
}

// timeName is a time as the part of a name.
func timeName(at time.Time) string { return at.Local().Format("2006-01-02 15h04m05s") }

// Versioned is a version of a chat that can be read as a file. It must be closed.
type Versioned struct {
	Path     string // of the chat
	Rev      *int64 // null for a backup that is not in the history
	At       time.Time
	Messages int
	Live     bool   // the chat is there now
	Note     string // which chat it is, if not the one that has the name now
	Content  *os.File
	Close    func() // closes and removes the file
}

// Version reads a version of a chat into a temporary file. The errors are those of [Restore].
func Version(ctx context.Context, where Where) (*Versioned, error) {
	s, v, err := openPicked(ctx, where, false)
	defer s.close()
	if err != nil {
		return nil, err
	}
	res := &Versioned{Path: s.path, At: v.At, Messages: v.Messages, Live: isFile(s.path), Note: s.note}
	if v.file == "" {
		res.Rev = &v.Rev
	}
	res.Content, res.Close, err = safefile.SpoolFrom(func(w io.Writer) error { return s.write(ctx, v, w) }, "")
	return res, err
}
