package keep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stchat/internal/backups"
	"stchat/internal/card"
	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/extension/luker"
	"stchat/internal/group"
	"stchat/internal/history"
	"stchat/internal/meta"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/sendate"
	"stchat/internal/userdir"
)

// RestoreOptions says which version to restore, and to which file.
type RestoreOptions struct {
	Where
	Pick    Pick   // the zero Pick is the newest version that differs from the file
	Backup  string // the path of one of SillyTavern's backups
	At      *int   // the last message; nil: all
	Name    string // of the new chat
	Output  string // write the exact bytes to this path, or to Stdout for cut.Stdout
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

// ErrNothing means that there is no version that differs from the file.
var ErrNothing = errors.New("no version differs from the chat as it is")

var (
	// ErrGone means that a chat whose file is gone cannot be cut, named anew or replaced.
	ErrGone = error(&ops.Kind{Code: "not-found", Text: "the chat is gone: bring it back first, whole and under its own name"})
	// ErrChangedRow means that the history is damaged where it says what a version is.
	ErrChangedRow = error(&ops.Kind{Code: "damaged", Text: "the history is damaged where it says what this is: its name, its time, or whose it is", Hint: "changed-row"})
	// ErrNoChat means that a file is no chat, so a copy of it beside it would be of no use.
	ErrNoChat = error(&ops.Kind{Code: "usage", Text: "is there, and not a chat: say where its version should go", Hint: "restore"})
)

// Restore makes a file from one of its versions. The error wraps [ErrUnknown], [ErrNoVersion],
// [ErrOthers], [ErrNobody] or [ErrNothing] if there is no such version, or [ErrGone] or
// [ErrNoChat].
func Restore(ctx context.Context, opt RestoreOptions) (*RestoreResult, error) {
	opt.AsOf, opt.others = opt.Pick.AsOf, opt.Pick.Rev > 0
	s, v, err := chosen(ctx, &opt)
	if s != nil {
		defer s.close()
	}
	if err != nil {
		return nil, err
	}
	on := newRestoring(s, v, opt)
	if v.Changed && opt.Output == "" {
		return nil, fmt.Errorf("%s, version %d: %w", s.path, v.Rev, ErrChangedRow)
	}
	if s.note != "" {
		on.res.Note("%s", s.note)
	}
	if opt.Output == cut.Stdout && opt.At == nil {
		on.res.Doc.Exact = true
		if v.file == "" { // it is read through first, so that nothing of a damaged one is written
			err = s.write(ctx, v, io.Discard)
		}
		if err == nil {
			err = s.write(ctx, v, opt.Stdout)
		}
		return on.res, err
	}
	_, err = os.Lstat(s.path)
	gone := errors.Is(err, fs.ErrNotExist)
	others := v.file == "" && !v.lone && (!gone && v.Chat != s.now.at[s.rel] || gone && v.Chat != s.id && opt.Name != "") // another file has the path, or had it last
	err = nil
	switch {
	case opt.Output != "" && opt.At == nil:
		on.export(opt.Output)
	case (gone || others) && opt.Output == "" && (opt.InPlace || opt.At != nil || !others && opt.Name != ""):
		return nil, fmt.Errorf("%s: %w", s.path, ErrGone)
	case others && opt.Output == "":
		err = on.revive(ctx, on.beside())
	case opt.InPlace:
		err = on.replace(ctx)
	case gone && opt.Output == "":
		err = on.revive(ctx, s.path)
	case !history.KindOf(s.rel).IsChat():
		return nil, fmt.Errorf("%s: %w", s.path, ErrNoChat)
	default:
		return on.res, on.branch(ctx)
	}
	if err == nil {
		commit(ctx, opt.Changes, []*restoring{on})
	}
	return on.res, err
}

// chosen finds the chat and the version.
func chosen(ctx context.Context, opt *RestoreOptions) (*subject, *version, error) {
	if opt.Backup != "" {
		return backupOf(ctx, opt)
	}
	s, err := openSubject(ctx, opt.Where)
	if errors.Is(err, ErrUnknown) && opt.Pick.Rev > 0 { // it may be a backup's, of a chat that is not known
		s, err = locate(ctx, opt.Where)
	}
	if err != nil {
		return s, nil, err
	}
	if opt.Pick != (Pick{}) {
		v, err := s.pick(ctx, opt.Pick, opt.Output != "" || opt.Name != "")
		return s, v, err
	}
	now, _, err := s.compare(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v, err := s.pick(ctx, Pick{}, false)
		return s, v, err
	case err != nil:
		return s, nil, err
	case len(s.versions) == 0:
		return s, nil, fmt.Errorf("%s: %w", s.path, ErrUnknown)
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
	if _, inUser := userdir.Enclosing(withExtension(opt.Chat)); !inUser && opt.Data == "" && opt.Store == "" {
		opt.root = filepath.Dir(opt.Chat) // a loose chat, which needs no history for that
	}
	s, err := locate(ctx, opt.Where)
	if err != nil {
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

// restoring is a version on its way to a file.
type restoring struct {
	s   *subject
	v   *version
	opt *RestoreOptions
	res *RestoreResult

	path     string    // of the file that it becomes
	sidecars []sidecar // of that time, for this path
	group    string    // the group file whose list it belongs into; "" for none
	draft    func(ctx context.Context, set *changeset.Set) error
}

func newRestoring(s *subject, v *version, opt RestoreOptions) *restoring {
	r := &restoring{s: s, v: v, opt: &opt, res: &RestoreResult{}}
	at := sendate.Format(v.At)
	r.res.Doc.AtVersion = &at
	if v.file == "" {
		r.res.Doc.Rev = &v.Rev
	}
	return r
}

// beside returns the path of a new chat beside the one that is meant.
func (r *restoring) beside() string { return besideOf(r.s.path, r.name()) }

// export writes the exact bytes to a file, and nothing that belongs to the chat.
func (r *restoring) export(path string) {
	r.res.Doc.Exact, r.path = true, path
	r.draft = func(ctx context.Context, set *changeset.Set) error {
		if err := ops.JudgeOutput(path, userdir.HasExtension(path)); err != nil {
			return err
		}
		return r.create(ctx, set, "the version")
	}
}

// create drafts the version's exact bytes.
func (r *restoring) create(ctx context.Context, set *changeset.Set, about string) error {
	d, err := set.Create(r.path, about, changeset.InFolder())
	if err != nil {
		return err
	}
	return r.s.write(ctx, r.v, d)
}

// goTo notes where the version goes, and what of that time belongs to it.
func (r *restoring) goTo(ctx context.Context, path string) (err error) {
	r.path = path
	if err = r.findSidecars(ctx); err == nil {
		err = r.findGroup(ctx)
	}
	return err
}

// revive brings back a file that is gone: its bytes, of a chat its sidecars, and its place in the
// group's list.
func (r *restoring) revive(ctx context.Context, path string) error {
	r.res.Doc.Exact = true
	return r.appear(ctx, path, func(ctx context.Context, set *changeset.Set) error { return r.create(ctx, set, "the chat, as it was") })
}

// fork makes a new chat of the version beside the one that is meant, its parent, with all lines as
// they were.
func (r *restoring) fork(ctx context.Context) error {
	return r.appear(ctx, r.beside(), func(ctx context.Context, set *changeset.Set) error {
		content, done, err := r.spool(ctx)
		if err != nil {
			return err
		}
		defer done()
		d, err := set.Create(r.path, "a new chat of the version", changeset.InFolder())
		if err != nil {
			return err
		}
		parent := userdir.ChatName(r.s.path)
		r.res.Doc.MainChat = &parent
		return r.withSlug(ctx, d, content, r.opt.Changes.NewUUID(), parent)
	})
}

// appear makes a chat that does not exist: what create drafts, its sidecars, and its place in the
// group's list.
func (r *restoring) appear(ctx context.Context, path string, create func(context.Context, *changeset.Set) error) error {
	r.draft = func(ctx context.Context, set *changeset.Set) error {
		if err := create(ctx, set); err != nil {
			return err
		}
		for _, c := range r.sidecars {
			if _, err := os.Lstat(c.path); err == nil {
				r.res.Warn("%s: already exists, and stays as it is", c.path)
				continue
			}
			if err := c.draft(set); err != nil {
				return err
			}
		}
		return r.list(set)
	}
	return r.goTo(ctx, path)
}

// spool writes a version to an unnamed file, so that all of it is checked before anything
// appears under a name.
func (r *restoring) spool(ctx context.Context) (*os.File, func(), error) {
	return safefile.SpoolFrom(func(w io.Writer) error { return r.s.write(ctx, r.v, w) }, "")
}

// branch writes a version as a branch of the chat.
func (r *restoring) branch(ctx context.Context) error {
	content, done, err := r.spool(ctx)
	if err != nil {
		return err
	}
	defer done()
	opt := r.opt
	cutting := cut.Options{
		Kind: names.Branch, Sources: []string{r.s.path}, At: -1, Name: opt.Name, Output: opt.Output, Style: names.Suffix,
		Integrity: cut.IntegrityNew, Lorebook: cut.LorebookShare, Open: opt.Open, SkipDamaged: true, Data: opt.Data,
		Content: content, Changes: opt.Changes, Stdout: opt.Stdout,
	}
	if opt.At != nil {
		cutting.At = *opt.At
	}
	if cutting.Name == "" && cutting.Output == "" {
		cutting.Name = r.name()
	}
	made := cut.Run(ctx, cutting)[0]
	r.res.Doc.Document, r.res.Warnings, r.res.Notes, r.res.Outcome = made.Doc, made.Warnings, append(r.res.Notes, made.Notes...), made.Outcome
	if n := made.Doc.SkippedTotal; n > 0 {
		r.res.Warn("%s: damaged lines of this version are left out: %d", r.s.path, n)
	}
	return nil
}

// name returns the name of a new chat.
func (r *restoring) name() string {
	return cmp.Or(r.opt.Name, freeName(r.s.path, timeName(r.v.At)))
}

// freeName returns a name for a new chat beside another that no chat has yet.
func freeName(path, name string) string {
	free := name
	for n := 2; isFile(besideOf(path, free)); n++ {
		free = fmt.Sprintf("%s (%d)", name, n)
	}
	return free
}

// besideOf returns the path of a new chat beside another.
func besideOf(path, name string) string {
	return filepath.Join(filepath.Dir(path), userdir.ChatName(path)+"__"+name+names.Extension)
}

// timeName is a time as the part of a name.
func timeName(at time.Time) string { return at.Local().Format("2006-01-02 15h04m05s") }

// replace puts a version in the chat's place, with a new slug, so that SillyTavern refuses
// the save of a tab that has the old chat open. What is replaced is kept in the store, if
// there is one, and in the undo record.
func (r *restoring) replace(ctx context.Context) error {
	s, v := r.s, r.v
	was, err := safefile.StampPath(s.path)
	if err != nil {
		return ops.PathError(err)
	}
	if err := r.goTo(ctx, s.path); err != nil {
		return err
	}
	content, done, err := r.spool(ctx)
	if err != nil {
		return err
	}
	if err := r.keepPresent(ctx); err != nil {
		done()
		return err
	}
	slug := r.opt.Changes.NewUUID()
	for i, c := range r.sidecars {
		if ns := sidecarOf(filepath.Base(c.path), userdir.ChatName(s.path)); ns == luker.SyncNamespace {
			r.sidecars[i].data = luker.SyncData(slug, r.opt.Now.UnixMilli())
		}
	}
	r.res.Doc.InPlace = true
	r.opt.Changes.Precious = true
	r.draft = func(ctx context.Context, set *changeset.Set) error {
		defer done()
		d, err := set.Replace(s.path, was, "the version of "+v.At.Local().Format("2006-01-02 15:04:05"))
		if err != nil {
			return err
		}
		if err := r.asOfToday(ctx, d, content, slug); err != nil {
			return err
		}
		for _, c := range r.sidecars {
			if err := c.draft(set); err != nil {
				return err
			}
		}
		if r.opt.Open {
			return r.list(set)
		}
		return nil
	}
	return nil
}

// asOfToday copies a version with what belongs to the present: of a chat a new slug, of a group
// the chats that it lists and opens with, of a card the chat that it opens with.
func (r *restoring) asOfToday(ctx context.Context, w io.Writer, content *os.File, slug string) error {
	kind := history.KindOf(r.s.rel)
	if kind.IsChat() {
		return r.withSlug(ctx, w, content, slug, "")
	}
	was, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	data := was
	if kind == history.Members || kind == history.Card {
		now, err := os.ReadFile(r.s.path)
		if err != nil {
			return ops.PathError(err)
		}
		if data, err = openingAs(r.s.path, kind, was, now); err != nil {
			r.res.Warn("%s: it keeps the chat that it opened with then: %v", r.s.path, err)
			data = was
		}
	}
	r.res.Doc.Exact = bytes.Equal(was, data)
	_, err = w.Write(data)
	return err
}

// openingAs returns a group's file or a card with the chats of another of its versions.
func openingAs(path string, kind history.Kind, data, now []byte) ([]byte, error) {
	if kind == history.Card {
		today, err := card.Parse(now, path)
		if err != nil {
			return nil, err
		}
		c, err := card.Parse(data, path)
		if err != nil {
			return nil, err
		}
		return c.WithChat(today.Chat)
	}
	o, err := rawjson.ParseObject(data)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"chats", "chat_id"} {
		if today := rawjson.Value(now, key); today != nil {
			o.Set(key, today)
		}
	}
	return o.Bytes(), nil
}

// withSlug copies a chat with another slug in its header, and its parent unless that is "". A
// chat without a usable header is copied as it is, with a warning.
func (r *restoring) withSlug(ctx context.Context, w io.Writer, content *os.File, slug, parent string) error {
	c, err := chat.Open(ctx, r.s.path, chat.Options{Content: content, Any: true})
	if err != nil {
		return err
	}
	if c.Header == nil || c.HeaderKind == chat.Damaged {
		r.res.Warn("%s: this version has no header for a new slug: close it in SillyTavern before it is saved there", r.s.path)
		_, err := io.Copy(w, io.NewSectionReader(content, 0, c.Source.Size))
		return err
	}
	r.res.Doc.Integrity = &slug
	return chat.Lines{{Index: chat.HeaderIndex, Place: c.HeaderPlace, Do: func(line []byte) ([]byte, error) {
		return meta.Edit(line, func(md *rawjson.Object) error {
			if parent != "" {
				md.Set("main_chat", rawjson.Quote(parent))
			}
			md.Set("integrity", rawjson.Quote(slug))
			return nil
		})
	}}}.Render(ctx, w, content, c.Source.Size)
}

// keepPresent takes what will be replaced into the store, if there is one.
func (r *restoring) keepPresent(ctx context.Context) error {
	if _, err := os.Stat(r.s.store.Path()); r.opt.Changes.DryRun || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	path, root := r.s.store.Path(), r.s.root
	r.s.close() // it would block writing to the store
	sum, err := Snapshot(ctx, SnapshotOptions{
		List: ops.List{Paths: []string{r.s.path}}, Store: path, Note: "", Now: r.opt.Now, Source: history.FromRestore, Root: root,
		Each: func(Taken) error { return nil },
	})
	if errors.Is(err, history.ErrOtherRoot) {
		r.res.Warn("%v: what is replaced is kept for undo alone", err)
		err = nil
	}
	if err == nil && len(sum.Errs) > 0 {
		err = sum.Errs[0]
	}
	return err
}

// list puts the chat into its group's list, and makes it the open chat if opt.Open is set.
func (r *restoring) list(set *changeset.Set) error {
	name := userdir.ChatName(r.path)
	open := ""
	if r.opt.Open {
		open = name
	}
	kind, owner := userdir.KindOf(r.path)
	switch {
	case !userdir.HasExtension(r.path):
		return nil
	case kind == userdir.Group && r.group == "":
		r.res.Warn("%s: no group lists it, and none is known that did, so SillyTavern does not show it", r.path)
	case kind == userdir.Group:
		r.res.Doc.Group = &r.group
		return set.Edit(r.group, safefile.Stamp{}, &group.Edit{Path: r.group, List: []string{name}, Open: open}, "its name in the group's list")
	case r.opt.Open && kind == userdir.Solo:
		_, err := ops.OpenInCard(set, userdir.Dir{Root: r.s.root}, owner, name)
		return err
	case r.opt.Open:
		return fmt.Errorf("%s: %w", r.s.path, cut.ErrNoOwner)
	}
	return nil
}

// commit makes files in one call, and completes the documents.
func commit(ctx context.Context, opt changeset.Options, list []*restoring) {
	var one sync.Mutex // a store may be used by one goroutine at a time
	ops.Each(ctx, opt, list, func(r *restoring) (*RestoreResult, changeset.Unit) {
		d := &r.res.Doc
		d.Document = cut.Document{
			Schema: 1, Source: r.s.path, Path: r.path, Kind: "copy", At: -1, Messages: r.v.Messages, Bytes: r.v.Size,
			DryRun: opt.DryRun, Sidecars: d.Sidecars,
		}
		if name := userdir.ChatName(r.path); userdir.HasExtension(r.path) {
			d.Name = &name
		}
		u := changeset.Unit{Root: changeset.RootFor(r.path, r.s.path), Draft: func(ctx context.Context, set *changeset.Set) error {
			one.Lock()
			defer one.Unlock()
			return r.draft(ctx, set)
		}}
		if r.group != "" {
			u.Shares = []string{r.group}
		}
		return r.res, u
	})
	for _, r := range list {
		d := &r.res.Doc
		for _, step := range r.res.Steps {
			if step.Path == r.path {
				d.Bytes = step.Bytes
			}
		}
		d.Warnings = append(d.Warnings, r.res.Warnings...)
	}
}

// sidecar is one of Luker's files as of a version.
type sidecar struct {
	path string
	data []byte
}

// draft drafts a sidecar as it was, in place of the present one if there is one.
func (c sidecar) draft(set *changeset.Set) error {
	const about = "Luker's state of that time"
	if !isFile(c.path) {
		return ops.Create(set, c.path, about, c.data, changeset.InFolder())
	}
	return set.Edit(c.path, safefile.Stamp{}, changeset.Bytes(func([]byte) ([]byte, error) { return c.data, nil }), about)
}

// findSidecars finds the chat's sidecars as of the version; none for a backup.
func (r *restoring) findSidecars(ctx context.Context) error {
	s, v := r.s, r.v
	if v.Snapshot == 0 {
		return nil
	}
	name := userdir.ChatName(v.Path)
	for _, p := range s.now.places {
		ns := sidecarOf(path.Base(p.Path), name)
		if ns == "" || path.Dir(p.Path) != path.Dir(v.Path) || !p.At(v.Snapshot) {
			continue
		}
		last, ok, err := s.store.Last(ctx, p.Chat, v.Snapshot)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		data, err := s.content(ctx, &last)
		if err != nil {
			return err
		}
		c := sidecar{filepath.Join(filepath.Dir(r.path), luker.SidecarName(userdir.ChatName(r.path), ns)), data}
		r.sidecars = append(r.sidecars, c)
		r.res.Doc.Sidecars = append(r.res.Doc.Sidecars, ops.Sidecar{Path: c.path, Action: "restored"})
	}
	return nil
}

// sidecarOf returns the namespace of a file if it is a sidecar of the chat, else "".
func sidecarOf(file, name string) (namespace string) {
	for _, found := range luker.Among([]string{file}, "", name) {
		return found.Namespace
	}
	return ""
}

// content returns what a small file held in a version.
func (s *subject) content(ctx context.Context, v *history.Version) ([]byte, error) {
	var b bytes.Buffer
	err := s.store.WriteTo(ctx, &b, v)
	return b.Bytes(), err
}

// findGroup finds the group file that lists the chat, or else one that is there and once did, or
// that lists what it stands beside.
func (r *restoring) findGroup(ctx context.Context) error {
	s := r.s
	if kind, _ := userdir.KindOf(s.path); kind != userdir.Group {
		return nil
	}
	set, err := group.LoadAll(userdir.Dir{Root: s.root}.Groups())
	if err != nil {
		return err
	}
	for name := userdir.ChatName(s.path); ; {
		if now := set.Listing(name); len(now) > 0 {
			r.group = now[0].Path
			return nil
		}
		for _, c := range s.now.list {
			path := s.now.full(c.Path)
			if history.KindOf(c.Path) != history.Members || !isFile(path) {
				continue
			}
			versions, err := s.store.Versions(ctx, c.ID)
			if err != nil {
				return err
			}
			for k := range slices.Backward(versions) {
				data, err := s.content(ctx, &versions[k])
				if err != nil {
					return err
				}
				if f, err := group.Parse(path, data); err == nil && slices.Contains(f.Chats, name) {
					r.group = path
					return nil
				}
			}
		}
		at := strings.LastIndex(name, "__") // what stands beside a chat is of its group
		if at <= 0 {
			return nil
		}
		name = name[:at]
	}
}

// Versioned is a version of a chat that can be read as a file. It must be closed.
type Versioned struct {
	Path     string // of the chat
	Rev      *int64 // null for a backup that is not in the history
	At       time.Time
	Messages int
	Live     bool   // the chat is there now
	Note     string // which chat it is, if not the one that has the name now
	Content  *os.File
	cleanup  func()
}

// Close closes and removes the file.
func (v *Versioned) Close() { v.cleanup() }

// Version reads a version of a chat into a temporary file. The errors are those of [Restore].
func Version(ctx context.Context, where Where, which Pick) (*Versioned, error) {
	s, v, err := openPicked(ctx, where, which, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	res := &Versioned{Path: s.path, At: v.At, Messages: v.Messages, Live: isFile(s.path), Note: s.note}
	if v.file == "" {
		res.Rev = &v.Rev
	}
	res.Content, res.cleanup, err = safefile.SpoolFrom(func(w io.Writer) error { return s.write(ctx, v, w) }, "")
	return res, err
}
