package keep

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"

	"stchat/internal/backups"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// backupTaking is the part of a snapshot that takes backups.
type backupTaking struct{ s *snapshot }

// takeAll takes SillyTavern's backups as earlier versions of their chats.
func (t backupTaking) takeAll(ctx context.Context) error {
	folder, err := backups.Read(userdir.Dir{Root: t.s.scope.root})
	if err != nil {
		t.s.fail(t.s.scope.root, ops.PathError(err))
		return nil
	}
	bytes := int64(0)
	for _, b := range folder.Backups {
		bytes += b.Size
	}
	t.s.opt.Meter.Expect(len(folder.Backups), bytes)
	for _, b := range folder.Backups {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.take(ctx, b); err != nil {
			return err
		}
		if err := t.s.commitFull(); err != nil {
			return err
		}
		t.s.opt.Meter.Done()
	}
	return nil
}

func (t backupTaking) take(ctx context.Context, b backups.Backup) error {
	t.s.sum.Files++
	t.s.sum.Bytes += b.Size
	defer t.s.opt.Meter.Read(b.Size)
	stamp, err := safefile.StampPath(b.Path)
	if err != nil {
		t.s.fail(b.Path, ops.PathError(err))
		return nil
	}
	rel, err := relative(t.s.scope.root, b.Path)
	if err != nil {
		t.s.fail(b.Path, err)
		return nil
	}
	if was, ok := t.s.seen[rel]; ok && !t.s.opt.Rescan && same(was, see(b.Path, stamp)) {
		t.s.sum.Unchanged++
		return nil
	}
	content, stamp, err := readFile(t.s.w, b.Path, true)
	if err != nil {
		return t.s.leave(b.Path, err)
	}
	of, err := t.ownerOf(ctx, b, content)
	if err != nil {
		return err
	}
	version, err := t.keep(ctx, of, b, content)
	if err != nil {
		return err
	}
	seen := see(b.Path, stamp)
	seen.Version, seen.Racy = version, t.s.opt.Now.Sub(stamp.ModTime()) < racy
	return t.s.w.See(rel, seen)
}

// keep adds a backup to the versions of a chat, unless one of them equals it, and returns
// the ID of the version with its content.
func (t backupTaking) keep(ctx context.Context, of *history.Chat, b backups.Backup, c *history.Content) (int64, error) {
	versions, err := t.s.store.Versions(ctx, of.ID)
	if err != nil {
		return 0, err
	}
	for _, v := range versions {
		if v.Sum == string(c.Sum[:]) {
			t.s.sum.Unchanged++
			return v.ID, nil
		}
	}
	return t.s.keep(ctx, of, b.Path, c, history.NewVersion{At: b.At.UnixMilli(), Mtime: b.At.UnixNano(), Source: history.FromBackup, Note: t.s.opt.Note})
}

// ownerOf finds the chat that a backup is of. A backup of no known chat is kept under its key.
func (t backupTaking) ownerOf(ctx context.Context, b backups.Backup, c *history.Content) (*history.Chat, error) {
	chats, err := t.s.store.Chats(ctx)
	if err != nil {
		return nil, err
	}
	chats = slices.DeleteFunc(chats, func(of history.Chat) bool { return !slices.Contains(backupKeys(&of), b.Key) })
	slugs := make([]string, len(chats))
	for i := range chats {
		slugs[i] = chats[i].Slug
	}
	i := backups.Belongs(c.Slug(), slugs, func(i int) int {
		runs, lastErr := t.s.store.LastRuns(ctx, chats[i].ID)
		err = errors.Join(err, lastErr)
		return int(history.Common(c.Runs, runs))
	})
	if err != nil {
		return nil, err
	}
	if i >= 0 {
		return &chats[i], nil
	}
	of, err := t.s.w.Identify(history.Candidate{Kind: history.Backup, Owner: "backups", Name: "backup:" + b.Key, Now: t.s.opt.Now}, c)
	return &of, err
}

// backupKeys returns the keys under which SillyTavern backs a chat up.
func backupKeys(of *history.Chat) []string {
	switch of.Kind {
	case history.Solo:
		return backups.Keys(path.Base(of.Owner))
	case history.Group:
		return backups.Keys(of.Name)
	}
	return nil
}

// sibling is a chat that a backup with the same key may belong to.
type sibling struct {
	rel  string
	slug string
	runs []history.Run
}

// addBackups adds those of SillyTavern's backups that belong to the chat and are not in the
// store.
func addBackups(ctx context.Context, s *subject) error {
	folder, err := backups.Read(userdir.Dir{Root: s.root})
	if err != nil {
		return ops.PathError(err)
	}
	kind, owner, name := history.Place(s.rel)
	keys := backupKeys(&history.Chat{Kind: kind, Owner: owner, Name: name})
	mine := slices.DeleteFunc(folder.Backups, func(b backups.Backup) bool { return !slices.Contains(keys, b.Key) })
	if len(mine) == 0 {
		return nil
	}
	siblings, err := findSiblings(ctx, s, owner, keys)
	if err != nil {
		return err
	}
	slugs := make([]string, len(siblings))
	for i := range siblings {
		slugs[i] = siblings[i].slug
	}
	for _, b := range mine {
		c, err := s.compare(b.Path)
		if err != nil {
			return err
		}
		i := backups.Belongs(c.Slug(), slugs, func(i int) int { return int(history.Common(siblings[i].runs, c.Runs)) })
		known := slices.ContainsFunc(s.versions, func(v version) bool { return v.Sum == string(c.Sum[:]) })
		if i < 0 || siblings[i].rel != s.rel || known {
			continue
		}
		s.versions = append(s.versions, version{
			Version: history.Version{At: b.At, Size: c.Size, Messages: c.Messages, Source: history.FromBackup, Sum: string(c.Sum[:])},
			file:    b.Path, runs: c.Runs, head: c.Head != nil,
		})
	}
	return nil
}

// findSiblings lists the chats with the same keys: those in the store by their last
// versions, the others by their files.
func findSiblings(ctx context.Context, s *subject, owner string, keys []string) ([]sibling, error) {
	var list []sibling
	known := map[string]bool{}
	chats, err := s.store.Chats(ctx)
	if err != nil {
		return nil, err
	}
	for i := range chats {
		c := &chats[i]
		if !slices.ContainsFunc(backupKeys(c), func(k string) bool { return slices.Contains(keys, k) }) {
			continue
		}
		runs, err := s.store.LastRuns(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		known[c.Path()] = true
		list = append(list, sibling{c.Path(), c.Slug, runs})
	}
	entries, err := os.ReadDir(filepath.Join(s.root, filepath.FromSlash(owner)))
	if err != nil {
		return list, nil // the folder is gone, too
	}
	for _, e := range entries {
		rel := owner + "/" + e.Name()
		kind, of, name := history.Place(rel)
		candidate := &history.Chat{Kind: kind, Owner: of, Name: name}
		if known[rel] || !e.Type().IsRegular() || !slices.ContainsFunc(backupKeys(candidate), func(k string) bool { return slices.Contains(keys, k) }) {
			continue
		}
		c, err := s.compare(filepath.Join(s.root, filepath.FromSlash(rel)))
		if err != nil {
			return nil, err
		}
		list = append(list, sibling{rel, c.Slug(), c.Runs})
	}
	return list, nil
}
