package keep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/history"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/place/sendate"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
)

// restoring is a version on its way to a file: as it was, or as a chat of today, with what comes
// with it.
type restoring struct {
	s   *subject
	v   *version
	opt *RestoreOptions
	res *RestoreResult // its Exact and InPlace say how the file is written

	path    string // of the file that it becomes
	about   string
	root    string // of the change; "": that of the path
	refused error  // why it cannot become that

	was      safefile.Stamp // of the file that it replaces
	store    string         // the one that has that file; "": none
	slug     string         // of one that is not exact
	parent   string         // likewise; "": its own
	content  *os.File       // likewise: what it was
	done     func()         // closes content
	joins    bool           // it is a chat of the user's folder, with what belongs to it:
	sidecars []sidecar      // of that time, for this path
	later    []string       // what Luker keeps at this path, and did not then: it goes
	group    string         // the group file whose list it belongs into; "" for none

	goneGroup *goneGroup // that file, if it is gone and comes back
}

func newRestoring(s *subject, v *version, opt RestoreOptions) *restoring {
	r := &restoring{s: s, v: v, opt: &opt, res: &RestoreResult{}, done: func() {}}
	at := sendate.Format(v.At)
	r.res.Doc.AtVersion = &at
	if v.file == "" {
		r.res.Doc.Rev = &v.Rev
	}
	return r
}

// export makes the exact bytes a file, and nothing that belongs to the chat.
func (r *restoring) export(path, about string) {
	r.path = path
	r.about = about
	r.res.Doc.Exact = true
	r.refused = ops.JudgeOutput(path, userdir.HasExtension(path))
	if r.refused == nil && userdir.RoleOf(path) == userdir.ChatPlace {
		r.refused = inFiles(path)
	}
}

// revive brings back a file that is gone: its bytes, of a chat its sidecars, and its place in the
// group's list. The error wraps [ops.ErrNotRead] where SillyTavern would not look for it, unless the
// history knows that a file was there.
func (r *restoring) revive(ctx context.Context, path string) error {
	if userdir.HasExtension(path) && !r.s.wasAt(path) && path != r.s.full(r.v.Path) {
		if err := ops.JudgeChatPlace(path); err != nil {
			return err
		}
	}
	r.about, r.res.Doc.Exact = "the chat, as it was", true
	return r.join(ctx, path)
}

// fork makes a new chat of the version beside the one that is meant, its parent, with all lines as
// they were. given are the paths that others of the call have.
func (r *restoring) fork(ctx context.Context, given places) error {
	r.about = "a new chat of the version"
	r.slug = r.opt.Changes.NewUUID()
	r.parent = userdir.ChatName(r.s.path)
	path, err := r.beside(given)
	if err != nil {
		return err
	}
	given.give(path)
	return r.join(ctx, path)
}

// replace puts a version in the chat's place, with a new slug, so that SillyTavern refuses
// the save of a tab that has the old chat open. What is replaced is kept in the store, if
// there is one, and in the undo record.
func (r *restoring) replace(ctx context.Context) (err error) {
	r.res.Doc.InPlace, r.opt.Changes.Precious = true, true
	r.about, r.slug = "the version of "+r.v.At.Local().Format("2006-01-02 15:04:05"), r.opt.Changes.NewUUID()
	if r.was, err = safefile.StampPath(r.s.path); err != nil {
		return ops.PathError(err)
	}
	if err := r.join(ctx, r.s.path); err != nil {
		return err
	}
	if err := r.spool(ctx); err != nil {
		return err
	}
	return r.keepPresent(ctx)
}

// join notes where the version goes, and what of that time belongs to it. The error wraps a
// [*luker.DatabaseError] where nothing would read it.
func (r *restoring) join(ctx context.Context, path string) (err error) {
	r.path, r.joins = path, true
	if err := inFiles(path); err != nil {
		return err
	}
	if err = r.findSidecars(ctx); err == nil {
		err = r.findGroup(ctx)
	}
	return err
}

// inFiles returns an error if a path is in the folder of a user whose data Luker keeps in a database.
func inFiles(path string) error {
	root, inUser := userdir.Above(path)
	if !inUser {
		return nil
	}
	return ops.InFiles(new(library.Library), userdir.Dir{Root: root}, path)
}

// spool writes the version to an unnamed file, so that all of it is checked before anything
// appears under a name.
func (r *restoring) spool(ctx context.Context) error {
	content, done, err := safefile.SpoolFrom(func(w io.Writer) error { return r.s.write(ctx, r.v, w) }, "")
	if err == nil {
		r.content, r.done = content, done
	}
	return err
}

// keepPresent takes what will be replaced into the store, if there is one.
func (r *restoring) keepPresent(ctx context.Context) error {
	store := r.s.store.Path()
	if _, err := os.Stat(store); r.opt.Changes.DryRun || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r.s.close() // it would block writing to the store
	err := r.snapshot(ctx, store, history.FromRestore, r.opt.Now)
	if errors.Is(err, history.ErrOtherRoot) {
		r.res.Warn("%v: what is replaced is kept for undo alone", err)
		return nil
	}
	r.store = store
	return err
}

// keepRestored takes what was put in the chat's place into the store, if what was there before is in it.
// Else a chat that vanishes before the next snapshot would come back as it was before.
func (r *restoring) keepRestored(ctx context.Context) {
	if r.store == "" || r.res.Err != nil {
		return
	}
	later := r.opt.Now.Add(time.Millisecond) // than what was replaced
	err := r.snapshot(ctx, r.store, history.FromSnapshot, later)
	if err != nil {
		r.res.Warn("%v: until the next snapshot the history takes what was replaced for the newest version", err)
	}
}

// snapshot takes the chat as it is into a store, as that of a time.
func (r *restoring) snapshot(ctx context.Context, store string, source history.Source, at time.Time) error {
	sum, err := Snapshot(ctx, SnapshotOptions{
		List: ops.List{Paths: []string{r.s.path}}, Store: store, Now: at, Source: source, Root: r.s.root,
		Each: func(Taken) error { return nil },
	})
	if err == nil && len(sum.Errs) > 0 {
		err = sum.Errs[0]
	}
	return err
}

// commit makes files in one call, and completes the documents.
func commit(ctx context.Context, opt changeset.Options, list []*restoring) []*RestoreResult {
	shareGroups(list)
	var one sync.Mutex // a store may be used by one goroutine at a time
	results := ops.Each(ctx, opt, list, func(r *restoring) (*RestoreResult, changeset.Unit) {
		d := &r.res.Doc
		d.Document = cut.Document{
			Schema: 1, Source: r.s.path,
			Made: cut.Made{
				Path: r.path, Kind: "copy", At: -1, Messages: r.v.Messages, Bytes: r.v.Size, DryRun: opt.DryRun, Sidecars: d.Sidecars,
			},
		}

		u := changeset.Unit{Root: r.root, Draft: func(ctx context.Context, set *changeset.Set) error {
			one.Lock()
			defer one.Unlock()
			return r.draft(ctx, set)
		}}

		if r.root == "" {
			u.Root = changeset.RootFor(r.path, r.s.path)
			if name := userdir.ChatName(r.path); userdir.HasExtension(r.path) {
				d.Name = &name
			}
		}

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
		if r.root == "" {
			d.Warnings = append(d.Warnings, r.res.Warnings...)
		}
	}
	return results
}

// draft drafts the file, and what belongs to it: sidecars, and its place in the group's list.
func (r *restoring) draft(ctx context.Context, set *changeset.Set) (err error) {
	if r.refused != nil {
		return r.refused
	}
	doc := &r.res.Doc
	like := r.like()
	var d *changeset.Draft
	if doc.InPlace {
		d, err = set.Replace(r.path, r.was, r.about)
	} else {
		d, err = set.Create(r.path, r.about, changeset.InFolder(), changeset.Like(like))
	}
	if err != nil {
		return err
	}
	if err := r.write(ctx, d); err != nil {
		return err
	}
	if err := r.draftSidecars(set, like); err != nil {
		return err
	}
	if r.joins && (!doc.InPlace || r.opt.Open) {
		return r.list(set)
	}
	return nil
}

// draftSidecars drafts the sidecars as they were.
func (r *restoring) draftSidecars(set *changeset.Set, like safefile.Stamp) (err error) {
	const about = "Luker's state of that time"
	for _, c := range r.sidecars {
		switch _, missing := os.Lstat(c.path); {
		case missing != nil:
			err = ops.Create(set, c.path, about, c.data, changeset.InFolder(), changeset.Like(like))
		case r.res.Doc.InPlace:
			err = set.Edit(c.path, safefile.Stamp{}, changeset.Bytes(func([]byte) ([]byte, error) { return c.data, nil }), about)
		default:
			r.res.Warn("%s: already exists, and stays as it is", c.path)
		}
		if err != nil {
			return err
		}
	}

	for _, path := range r.later {
		was, err := safefile.StampPath(path)
		if err != nil {
			return ops.PathError(err)
		}
		if err := set.Remove(path, was, "Luker's state, which was not there then"); err != nil {
			return err
		}
	}
	return nil
}

// like returns the stamp of the file that tells who may read what comes back: the chat that is there,
// else the backup, else what undo keeps of the file that is gone. It is zero where there is none, as the
// history knows no permissions, and for a copy that somebody asked for elsewhere.
func (r *restoring) like() safefile.Stamp {
	if !r.joins {
		return safefile.Stamp{}
	}
	for _, file := range []string{r.s.path, r.v.file, r.s.keptOf(r.path)} {
		if stamp, err := safefile.StampPath(file); err == nil && stamp.Regular() {
			return stamp
		}
	}
	return safefile.Stamp{}
}

// write writes the exact bytes; or else with what belongs to the present: of a chat a new slug, of a
// group the chats that it lists and opens with, of a card the chat that it opens with.
func (r *restoring) write(ctx context.Context, w io.Writer) error {
	kind := history.KindOf(r.s.rel)
	if r.content == nil && r.slug != "" {
		if err := r.spool(ctx); err != nil {
			return err
		}
		defer r.done()
	}

	switch {
	case r.slug == "":
		return r.s.write(ctx, r.v, w)
	case kind.IsChat() || r.parent != "":
		return r.withSlug(ctx, w)
	}

	was, err := io.ReadAll(r.content)
	if err != nil {
		return err
	}
	data := was
	if kind == history.Members || kind == history.Card {
		now, err := os.ReadFile(r.path)
		if err != nil {
			return ops.PathError(err)
		}
		if data, err = openingAs(r.path, kind, was, now); err != nil {
			r.res.Warn("%s: it keeps the chat that it opened with then: %v", r.path, err)
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
		return c.With(card.Chat(today.Chat))
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

// withSlug writes a chat with another slug in its header, and another parent if there is one. A
// chat without a usable header is written as it is, with a warning.
func (r *restoring) withSlug(ctx context.Context, w io.Writer) error {
	c, err := chat.Open(ctx, r.s.path, chat.Options{Content: r.content, Any: true})
	if err != nil {
		return err
	}
	doc := &r.res.Doc
	if r.parent != "" {
		doc.MainChat = &r.parent
	}
	if c.Header == nil || c.HeaderKind == chat.Damaged {
		r.res.Warn("%s: this version has no header for a new integrity: close it in SillyTavern before it is saved there", r.s.path)
		_, err := io.Copy(w, io.NewSectionReader(r.content, 0, c.Source.Size))
		return err
	}

	doc.Integrity = &r.slug
	edit := family.HeaderEdit(func(md *rawjson.Object) {
		if r.parent != "" {
			md.Set("main_chat", rawjson.Quote(r.parent))
		}
		md.Set("integrity", rawjson.Quote(r.slug))
	})

	edit.Place = c.HeaderPlace
	return chat.Lines{edit}.Render(ctx, w, r.content, c.Source.Size)
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
		r.res.Warn("%s: no group lists it, and none is known that did, so SillyTavern does not show it until 'stchat move CHAT GROUP' puts it into one", r.path)
	case r.goneGroup != nil:
		r.res.Doc.Group = &r.group
		return r.goneGroup.create(set, open)
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

// What becomes of a sidecar, unless it goes to a branch.
const (
	SidecarRestored = "restored" // it is as it was
	SidecarRemoved  = "removed"  // it was not there then
)

// sidecar is one of Luker's files as of a version.
type sidecar struct {
	path string
	data []byte
}

// findSidecars finds the chat's sidecars as of the version, for the path that it gets; none for a backup.
func (r *restoring) findSidecars(ctx context.Context) error {
	then, err := r.sidecarsThen(ctx)
	if err != nil {
		return err
	}
	for _, ns := range slices.Sorted(maps.Keys(then)) {
		data := then[ns]
		if ns == luker.SyncNamespace && r.slug != "" {
			data = luker.SyncData(r.slug, r.opt.Now.UnixMilli())
		}
		c := sidecar{filepath.Join(filepath.Dir(r.path), luker.SidecarName(userdir.ChatName(r.path), ns)), data}
		r.sidecars = append(r.sidecars, c)
		r.res.Doc.Sidecars = append(r.res.Doc.Sidecars, ops.Sidecar{Path: c.path, Action: SidecarRestored})
	}
	isKnown := then != nil
	if isKnown && r.res.Doc.InPlace {
		r.findLater(then)
	}
	return nil
}

// findLater finds the sidecars that the chat has now and did not have then. They are of messages that
// go, or would have values beside messages that never had them.
func (r *restoring) findLater(then map[string][]byte) {
	folder := new(library.Library).Folder(filepath.Dir(r.path))
	for _, now := range folder.Sidecars(userdir.ChatName(r.path)) {
		if _, has := then[now.Namespace]; has {
			continue
		}
		r.later = append(r.later, now.Path)
		r.res.Doc.Sidecars = append(r.res.Doc.Sidecars, ops.Sidecar{Path: now.Path, Action: SidecarRemoved})
	}
}

// sidecarsThen returns, by namespace, what Luker kept beside the chat as of the version; nil for a backup, of
// which that is not known.
func (r *restoring) sidecarsThen(ctx context.Context) (map[string][]byte, error) {
	s, v := r.s, r.v
	if v.Snapshot == 0 {
		return nil, nil
	}
	then := map[string][]byte{}
	name := userdir.ChatName(v.Path)
	for _, p := range s.places {
		found := luker.Among([]string{path.Base(p.Path)}, "", name)
		if len(found) == 0 || path.Dir(p.Path) != path.Dir(v.Path) || !p.At(v.Snapshot) {
			continue
		}
		last, ok, err := s.store.Last(ctx, p.Chat, v.Snapshot)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if then[found[0].Namespace], err = s.content(ctx, &last); err != nil {
			return nil, err
		}
	}
	return then, nil
}

// content returns what a small file held in a version.
func (p *present) content(ctx context.Context, v *history.Version) ([]byte, error) {
	var b bytes.Buffer
	err := p.store.WriteTo(ctx, &b, v)
	return b.Bytes(), err
}
