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

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/group"
	"stchat/internal/history"
	"stchat/internal/luker"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// commit runs the one change set of a restore, and fills in the document.
func (s *subject) commit(ctx context.Context, opt *RestoreOptions, root, path string, content *os.File, r *RestoreResult, draft func(*changeset.Set) error) error {
	info, err := content.Stat()
	if err != nil {
		return err
	}
	d := &r.Doc
	d.Document = cut.Document{
		Schema: 1, Source: s.path, Path: path, Kind: "copy", At: -1, Bytes: info.Size(), DryRun: opt.Changes.DryRun,
		State: []cut.StateChange{}, Sidecars: d.Sidecars, Skipped: []cut.Skipped{}, Warnings: []string{},
	}
	if d.Sidecars == nil {
		d.Sidecars = []cut.Sidecar{}
	}
	if name := userdir.ChatName(path); userdir.HasExtension(path) {
		d.Name = &name
	}
	unit := changeset.Unit{Root: root, Draft: func(_ context.Context, set *changeset.Set) error { return ops.PathError(draft(set)) }}
	r.Outcome = changeset.Run(ctx, []changeset.Unit{unit}, opt.Changes)[0]
	d.Written = ops.WrittenBy(r.Outcome)
	for _, step := range r.Steps {
		if step.Path == path {
			d.Bytes = step.Bytes
		}
	}
	d.Warnings = append(d.Warnings, r.Warnings...)
	return nil
}

// export writes the exact bytes to a path outside of the chat's life.
func (s *subject) export(ctx context.Context, opt *RestoreOptions, content *os.File, r *RestoreResult) error {
	r.Doc.Exact = true
	return s.commit(ctx, opt, changeset.RootOf(opt.Output), opt.Output, content, r, func(set *changeset.Set) error {
		return create(set, opt.Output, content, "the version")
	})
}

// revive brings a chat back that is gone: its name, its bytes, its sidecars, and its place
// in the group's list.
func (s *subject) revive(ctx context.Context, opt *RestoreOptions, v *version, content *os.File, r *RestoreResult) error {
	r.Doc.Exact = true
	sidecars, err := s.sidecars(ctx, v)
	if err != nil {
		return err
	}
	for _, c := range sidecars {
		r.Doc.Sidecars = append(r.Doc.Sidecars, cut.Sidecar{Path: c.path, Action: "restored"})
	}
	listing, err := s.listing(ctx)
	if err != nil {
		return err
	}
	return s.commit(ctx, opt, changeset.RootOf(s.path), s.path, content, r, func(set *changeset.Set) error {
		if err := create(set, s.path, content, "the chat, as it was"); err != nil {
			return err
		}
		for _, c := range sidecars {
			if _, err := os.Lstat(c.path); err == nil {
				r.Warn("%s: is there already, and stays as it is", c.path)
				continue
			}
			if err := create(set, c.path, bytes.NewReader(c.data), "Luker's state of that time"); err != nil {
				return err
			}
		}
		return s.list(set, opt, listing, r)
	})
}

// list puts the chat into its group's list, and opens it where that is asked for.
func (s *subject) list(set *changeset.Set, opt *RestoreOptions, listing string, r *RestoreResult) error {
	name := userdir.ChatName(s.path)
	open := ""
	if opt.Open {
		open = name
	}
	kind, owner := userdir.KindOf(s.path)
	switch {
	case kind == userdir.Group && listing == "":
		r.Warn("%s: no group lists it, and none is known that did, so SillyTavern does not show it", s.path)
	case kind == userdir.Group:
		r.Doc.Group = &listing
		return set.Edit(listing, safefile.Stamp{}, &group.Edit{Path: listing, List: []string{name}, Open: open}, "its name in the group's list")
	case opt.Open && kind == userdir.Solo:
		known, err := ops.CardOf(userdir.Dir{Root: s.root}, owner)
		if err != nil {
			return err
		}
		return ops.OpenInCard(set, known, name)
	case opt.Open:
		return fmt.Errorf("%s: %w", s.path, cut.ErrNoOwner)
	}
	return nil
}

// replace puts a version in the chat's place, with a new slug, so that a tab that has the
// chat open is stopped instead of writing over it. What was there is in the store, where
// there is one, and in the undo record.
func (s *subject) replace(ctx context.Context, opt *RestoreOptions, v *version, content *os.File, r *RestoreResult) error {
	was, err := safefile.StampPath(s.path)
	if err != nil {
		return ops.PathError(err)
	}
	sidecars, err := s.sidecars(ctx, v)
	if err != nil {
		return err
	}
	listing, err := s.listing(ctx)
	if err != nil {
		return err
	}
	if err := s.keepPresent(ctx, opt, r); err != nil {
		return err
	}
	slug := opt.NewUUID()
	for i, c := range sidecars {
		if ns := sidecarOf(filepath.Base(c.path), userdir.ChatName(s.path)); ns == luker.SyncNamespace {
			sidecars[i].data = luker.SyncData(slug, opt.Now.UnixMilli())
		}
		r.Doc.Sidecars = append(r.Doc.Sidecars, cut.Sidecar{Path: c.path, Action: "restored"})
	}
	r.Doc.InPlace = true
	opt.Changes.Precious = true
	err = s.commit(ctx, opt, changeset.RootOf(s.path), s.path, content, r, func(set *changeset.Set) error {
		d, err := set.Replace(s.path, was, "the version of "+v.At.Local().Format("2006-01-02 15:04:05"))
		if err != nil {
			return err
		}
		if err := s.withSlug(ctx, d, content, slug, r); err != nil {
			return err
		}
		for _, c := range sidecars {
			if err := putBack(set, c); err != nil {
				return err
			}
		}
		if opt.Open {
			return s.list(set, opt, listing, r)
		}
		return nil
	})
	return err
}

// withSlug copies a chat with another slug in its header.
func (s *subject) withSlug(ctx context.Context, w io.Writer, content *os.File, slug string, r *RestoreResult) error {
	c, err := chat.Open(ctx, s.path, chat.Options{Content: content, Any: true})
	if err != nil {
		return err
	}
	if c.Header == nil || c.HeaderKind == chat.Damaged {
		r.Warn("%s: this version has no header for a new slug: close it in SillyTavern before it is saved there", s.path)
		_, err := io.Copy(w, io.NewSectionReader(content, 0, c.Source.Size))
		return err
	}
	r.Doc.Integrity = &slug
	return chat.Lines{{Index: chat.HeaderIndex, Place: c.HeaderPlace(), Do: func(line []byte) ([]byte, error) {
		h, err := meta.Parse(line)
		if err != nil {
			return line, err
		}
		h.Metadata().Set("integrity", rawjson.Quote(slug))
		return h.Bytes(), nil
	}}}.Render(ctx, w, content, c.Source.Size)
}

// keepPresent takes what is to be replaced into the store, where there is one.
func (s *subject) keepPresent(ctx context.Context, opt *RestoreOptions, r *RestoreResult) error {
	if _, err := os.Stat(s.store.Path()); opt.Changes.DryRun || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	path, root := s.store.Path(), s.root
	s.close() // it would keep the store from being written
	sum, err := Snapshot(ctx, SnapshotOptions{
		List: ops.List{Paths: []string{s.path}}, Store: path, Note: "", Now: opt.Now, Source: history.FromRestore, Root: root,
		Each: func(Taken) error { return nil },
	})
	if errors.Is(err, history.ErrOtherRoot) {
		r.Warn("%v: what is replaced is kept for undo alone", err)
		err = nil
	}
	if err == nil && len(sum.Errs) > 0 {
		err = sum.Errs[0]
	}
	return err
}

// sidecar is one of Luker's files as of a version.
type sidecar struct {
	path string
	data []byte
}

// sidecars gives the chat's sidecars as of a version of the store.
func (s *subject) sidecars(ctx context.Context, v *version) ([]sidecar, error) {
	if v.file != "" {
		return nil, nil
	}
	_, owner, name := history.Place(s.rel)
	all, err := s.store.Chats(ctx)
	if err != nil {
		return nil, err
	}
	var list []sidecar
	for i := range all {
		c := &all[i]
		if ns := sidecarOf(c.Name, name); c.Kind != history.Sidecar || c.Owner != owner || ns == "" {
			continue
		}
		data, ok, err := s.asOf(ctx, c.ID, v)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, sidecar{filepath.Join(filepath.Dir(s.path), c.Name), data})
		}
	}
	return list, nil
}

// sidecarOf gives the namespace of a file, where it is a sidecar of the chat.
func sidecarOf(file, name string) (namespace string) {
	for _, c := range luker.Among([]string{file}, "", name) {
		return c.Namespace
	}
	return ""
}

// asOf reads what a small file held when a version was taken.
func (s *subject) asOf(ctx context.Context, id int64, v *version) ([]byte, bool, error) {
	list, err := s.store.Versions(ctx, id)
	if err != nil {
		return nil, false, err
	}
	for i := range slices.Backward(list) {
		if !list[i].At.After(v.At) {
			var b bytes.Buffer
			err := s.store.WriteTo(ctx, &b, &list[i])
			return b.Bytes(), true, err
		}
	}
	return nil, false, nil
}

// listing finds the group file that lists the chat, or once did.
func (s *subject) listing(ctx context.Context) (string, error) {
	if kind, _ := userdir.KindOf(s.path); kind != userdir.Group {
		return "", nil
	}
	dir, name := userdir.Dir{Root: s.root}, userdir.ChatName(s.path)
	set, err := group.LoadAll(dir.Groups())
	if err != nil {
		return "", err
	}
	if now := set.Listing(name); len(now) > 0 {
		return now[0].Path, nil
	}
	all, err := s.store.Chats(ctx)
	if err != nil {
		return "", err
	}
	for i := range all {
		c := &all[i]
		path := filepath.Join(s.root, filepath.FromSlash(c.Path()))
		if _, err := os.Lstat(path); c.Kind != history.Members || err != nil {
			continue
		}
		versions, err := s.store.Versions(ctx, c.ID)
		if err != nil {
			return "", err
		}
		for k := range slices.Backward(versions) {
			var b bytes.Buffer
			if err := s.store.WriteTo(ctx, &b, &versions[k]); err != nil {
				return "", err
			}
			if f, err := group.Parse(path, b.Bytes()); err == nil && slices.Contains(f.Chats, name) {
				return path, nil
			}
		}
	}
	return "", nil
}

// create drafts a new file.
func create(set *changeset.Set, path string, from io.Reader, about string) error {
	if f, ok := from.(io.Seeker); ok {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	d, err := set.Create(path, about, changeset.InFolder())
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{d}, struct{ io.Reader }{from}, make([]byte, 1<<20))
	return err
}

// putBack drafts a sidecar as it was, over the one that stands there.
func putBack(set *changeset.Set, c sidecar) error {
	if _, err := os.Lstat(c.path); errors.Is(err, fs.ErrNotExist) {
		return create(set, c.path, bytes.NewReader(c.data), "Luker's state of that time")
	}
	return set.Edit(c.path, safefile.Stamp{}, changeset.Bytes(func([]byte) ([]byte, error) { return c.data, nil }), "Luker's state of that time")
}
