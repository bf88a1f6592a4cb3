package keep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/extension/luker"
	"stchat/internal/group"
	"stchat/internal/history"
	"stchat/internal/meta"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// restoring is a version on its way to a file.
type restoring struct {
	s   *subject
	v   *version
	opt *RestoreOptions
	res *RestoreResult
}

// stream writes the exact bytes to Stdout. A version in the store is read through first, so
// that nothing of a damaged one is written.
func (r *restoring) stream(ctx context.Context) error {
	r.res.Doc.Exact = true
	if r.v.file == "" {
		if err := r.s.write(ctx, r.v, io.Discard); err != nil {
			return err
		}
	}
	return r.s.write(ctx, r.v, r.opt.Stdout)
}

// export writes the exact bytes to opt.Output, and nothing that belongs to the chat.
func (r *restoring) export(ctx context.Context) {
	r.res.Doc.Exact = true
	r.commit(ctx, r.opt.Output, func(ctx context.Context, set *changeset.Set) error {
		if err := ops.JudgeOutput(r.opt.Output, userdir.HasExtension(r.opt.Output)); err != nil {
			return err
		}
		return r.create(ctx, set, r.opt.Output, "the version")
	})
}

// create drafts the version's exact bytes.
func (r *restoring) create(ctx context.Context, set *changeset.Set, path, about string) error {
	d, err := set.Create(path, about, changeset.InFolder())
	if err != nil {
		return err
	}
	return r.s.write(ctx, r.v, d)
}

// revive brings back a chat that is gone: its name, its bytes, its sidecars, and its place
// in the group's list.
func (r *restoring) revive(ctx context.Context) error {
	r.res.Doc.Exact = true
	around := relatedFiles{r.s}
	sidecars, err := around.sidecars(ctx, r.v)
	if err != nil {
		return err
	}
	listing, err := around.listing(ctx)
	if err != nil {
		return err
	}
	r.note(sidecars)
	r.commit(ctx, r.s.path, func(ctx context.Context, set *changeset.Set) error {
		if err := r.create(ctx, set, r.s.path, "the chat, as it was"); err != nil {
			return err
		}
		for _, c := range sidecars {
			if _, err := os.Lstat(c.path); err == nil {
				r.res.Warn("%s: already exists, and stays as it is", c.path)
				continue
			}
			if err := c.create(set); err != nil {
				return err
			}
		}
		return r.list(set, listing)
	})
	return nil
}

// note adds sidecars that are restored to the document.
func (r *restoring) note(sidecars []sidecar) {
	for _, c := range sidecars {
		r.res.Doc.Sidecars = append(r.res.Doc.Sidecars, ops.Sidecar{Path: c.path, Action: "restored"})
	}
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
	opt, v := r.opt, r.v
	cutting := cut.Options{
		Kind: names.Branch, Sources: []string{r.s.path}, At: -1, Name: opt.Name, Output: opt.Output, Style: names.Suffix,
		Integrity: cut.IntegrityNew, Lorebook: cut.LorebookShare, Open: opt.Open, SkipDamaged: true, Data: opt.Data,
		Content: content, Changes: opt.Changes, Stdout: opt.Stdout, NewUUID: opt.NewUUID,
	}
	if opt.At != nil {
		cutting.At = *opt.At
	}
	if cutting.Name == "" && cutting.Output == "" {
		cutting.Name = strings.NewReplacer(":", "h").Replace(v.At.Local().Format("2006-01-02 15:04"))
		cutting.Name += v.At.Local().Format("m05s")
	}
	made := cut.Run(ctx, cutting)[0]
	r.res.Doc.Document, r.res.Warnings, r.res.Notes, r.res.Outcome = made.Doc, made.Warnings, made.Notes, made.Outcome
	if n := made.Doc.SkippedTotal; n > 0 {
		r.res.Warn("%s: damaged lines of this version are left out: %d", r.s.path, n)
	}
	return nil
}

// replace puts a version in the chat's place, with a new slug, so that SillyTavern refuses
// the save of a tab that has the old chat open. What is replaced is kept in the store, if
// there is one, and in the undo record.
func (r *restoring) replace(ctx context.Context) error {
	s, v := r.s, r.v
	was, err := safefile.StampPath(s.path)
	if err != nil {
		return ops.PathError(err)
	}
	content, done, err := r.spool(ctx)
	if err != nil {
		return err
	}
	defer done()
	around := relatedFiles{s}
	sidecars, err := around.sidecars(ctx, v)
	if err != nil {
		return err
	}
	listing, err := around.listing(ctx)
	if err != nil {
		return err
	}
	if err := r.keepPresent(ctx); err != nil {
		return err
	}
	slug := r.opt.NewUUID()
	for i, c := range sidecars {
		if ns := sidecarOf(filepath.Base(c.path), userdir.ChatName(s.path)); ns == luker.SyncNamespace {
			sidecars[i].data = luker.SyncData(slug, r.opt.Now.UnixMilli())
		}
	}
	r.note(sidecars)
	r.res.Doc.InPlace = true
	r.opt.Changes.Precious = true
	r.commit(ctx, s.path, func(ctx context.Context, set *changeset.Set) error {
		d, err := set.Replace(s.path, was, "the version of "+v.At.Local().Format("2006-01-02 15:04:05"))
		if err != nil {
			return err
		}
		if err := r.withSlug(ctx, d, content, slug); err != nil {
			return err
		}
		for _, c := range sidecars {
			if err := c.putBack(set); err != nil {
				return err
			}
		}
		if r.opt.Open {
			return r.list(set, listing)
		}
		return nil
	})
	return nil
}

// withSlug copies a chat with another slug in its header. A chat without a usable header is
// copied as it is, with a warning.
func (r *restoring) withSlug(ctx context.Context, w io.Writer, content *os.File, slug string) error {
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
		return meta.WithSlug(line, slug)
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
func (r *restoring) list(set *changeset.Set, listing string) error {
	name := userdir.ChatName(r.s.path)
	open := ""
	if r.opt.Open {
		open = name
	}
	kind, owner := userdir.KindOf(r.s.path)
	switch {
	case kind == userdir.Group && listing == "":
		r.res.Warn("%s: no group lists it, and none is known that did, so SillyTavern does not show it", r.s.path)
	case kind == userdir.Group:
		r.res.Doc.Group = &listing
		return set.Edit(listing, safefile.Stamp{}, &group.Edit{Path: listing, List: []string{name}, Open: open}, "its name in the group's list")
	case r.opt.Open && kind == userdir.Solo:
		known, err := ops.CardOf(userdir.Dir{Root: r.s.root}, owner)
		if err != nil {
			return err
		}
		return ops.OpenInCard(set, known, name)
	case r.opt.Open:
		return fmt.Errorf("%s: %w", r.s.path, cut.ErrNoOwner)
	}
	return nil
}

// commit runs the one change set of a restore, and fills in the document.
func (r *restoring) commit(ctx context.Context, path string, draft func(context.Context, *changeset.Set) error) {
	d := &r.res.Doc
	d.Document = cut.Document{
		Schema: 1, Source: r.s.path, Path: path, Kind: "copy", At: -1, Bytes: r.v.Size, DryRun: r.opt.Changes.DryRun,
		Sidecars: d.Sidecars,
	}
	if name := userdir.ChatName(path); userdir.HasExtension(path) {
		d.Name = &name
	}
	ops.Each(ctx, r.opt.Changes, []*RestoreResult{r.res}, func(res *RestoreResult) (*RestoreResult, changeset.Unit) {
		return res, changeset.Unit{Root: changeset.RootFor(path, r.s.path), Draft: draft}
	})
	for _, step := range r.res.Steps {
		if step.Path == path {
			d.Bytes = step.Bytes
		}
	}
	d.Warnings = append(d.Warnings, r.res.Warnings...)
}

// sidecar is one of Luker's files as of a version.
type sidecar struct {
	path string
	data []byte
}

// create drafts a sidecar that does not exist.
func (c sidecar) create(set *changeset.Set) error {
	return ops.Create(set, c.path, lukerState, c.data, changeset.InFolder())
}

const lukerState = "Luker's state of that time"

// putBack drafts a sidecar as it was, in place of the present one if there is one.
func (c sidecar) putBack(set *changeset.Set) error {
	if _, err := os.Lstat(c.path); errors.Is(err, fs.ErrNotExist) {
		return c.create(set)
	}
	return set.Edit(c.path, safefile.Stamp{}, changeset.Bytes(func([]byte) ([]byte, error) { return c.data, nil }), lukerState)
}

// relatedFiles finds what belongs to a chat besides its file.
type relatedFiles struct{ of *subject }

// sidecars returns the chat's sidecars as of a version in the store; none for a backup.
func (c relatedFiles) sidecars(ctx context.Context, v *version) ([]sidecar, error) {
	if v.file != "" {
		return nil, nil
	}
	_, owner, name := history.Place(c.of.rel)
	all, err := c.of.store.Chats(ctx)
	if err != nil {
		return nil, err
	}
	var list []sidecar
	for i := range all {
		kept := &all[i]
		if ns := sidecarOf(kept.Name, name); kept.Kind != history.Sidecar || kept.Owner != owner || ns == "" {
			continue
		}
		data, ok, err := c.contentAt(ctx, kept.ID, v)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, sidecar{filepath.Join(filepath.Dir(c.of.path), kept.Name), data})
		}
	}
	return list, nil
}

// sidecarOf returns the namespace of a file if it is a sidecar of the chat, else "".
func sidecarOf(file, name string) (namespace string) {
	for _, found := range luker.Among([]string{file}, "", name) {
		return found.Namespace
	}
	return ""
}

// contentAt returns what a small file held when a version was taken, false if the store has no
// version of it that is as old.
func (c relatedFiles) contentAt(ctx context.Context, id int64, v *version) ([]byte, bool, error) {
	list, err := c.of.store.Versions(ctx, id)
	if err != nil {
		return nil, false, err
	}
	for i := range slices.Backward(list) {
		if !list[i].At.After(v.At) {
			data, err := c.content(ctx, &list[i])
			return data, true, err
		}
	}
	return nil, false, nil
}

// content returns what a small file held in a version.
func (c relatedFiles) content(ctx context.Context, v *history.Version) ([]byte, error) {
	var b bytes.Buffer
	err := c.of.store.WriteTo(ctx, &b, v)
	return b.Bytes(), err
}

// listing returns the path of the group file that lists the chat, or once did; "" for none.
func (c relatedFiles) listing(ctx context.Context) (string, error) {
	if kind, _ := userdir.KindOf(c.of.path); kind != userdir.Group {
		return "", nil
	}
	dir, name := userdir.Dir{Root: c.of.root}, userdir.ChatName(c.of.path)
	set, err := group.LoadAll(dir.Groups())
	if err != nil {
		return "", err
	}
	if now := set.Listing(name); len(now) > 0 {
		return now[0].Path, nil
	}
	all, err := c.of.store.Chats(ctx)
	if err != nil {
		return "", err
	}
	for i := range all {
		kept := &all[i]
		path := filepath.Join(c.of.root, filepath.FromSlash(kept.Path()))
		if _, err := os.Lstat(path); kept.Kind != history.Members || err != nil {
			continue
		}
		versions, err := c.of.store.Versions(ctx, kept.ID)
		if err != nil {
			return "", err
		}
		for k := range slices.Backward(versions) {
			data, err := c.content(ctx, &versions[k])
			if err != nil {
				return "", err
			}
			if f, err := group.Parse(path, data); err == nil && slices.Contains(f.Chats, name) {
				return path, nil
			}
		}
	}
	return "", nil
}
