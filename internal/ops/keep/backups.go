package keep

import (
	"context"
	"errors"
	"path"
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
