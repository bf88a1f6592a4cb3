package keep

import (
	"context"
	"path"
	"slices"

	"stchat/internal/backups"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// takeBackups takes SillyTavern's backups as earlier versions of the chats they are of.
func (s *snapshot) takeBackups(ctx context.Context) error {
	folder, err := backups.Read(userdir.Dir{Root: s.scope.root})
	if err != nil {
		s.fail(s.scope.root, ops.PathError(err))
		return nil
	}
	bytes := int64(0)
	for _, b := range folder.Backups {
		bytes += b.Size
	}
	s.opt.Meter.Expect(len(folder.Backups), bytes)
	for _, b := range folder.Backups {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.takeBackup(ctx, b); err != nil {
			return err
		}
		if err := s.commitFull(); err != nil {
			return err
		}
		s.opt.Meter.Done()
	}
	return nil
}

func (s *snapshot) takeBackup(ctx context.Context, b backups.Backup) error {
	s.sum.Files++
	s.sum.Bytes += b.Size
	defer s.opt.Meter.Read(b.Size)
	stamp, err := safefile.StampPath(b.Path)
	if err != nil {
		s.fail(b.Path, ops.PathError(err))
		return nil
	}
	rel, err := relative(s.scope.root, b.Path)
	if err != nil {
		s.fail(b.Path, err)
		return nil
	}
	if was, ok := s.seen[rel]; ok && !s.opt.Rescan && same(was, see(b.Path, stamp)) {
		s.sum.Unchanged++
		return nil
	}
	content, stamp, err := s.read(b.Path, true)
	if content == nil || err != nil {
		return err
	}
	of, err := s.ownerOf(ctx, b, content)
	if err != nil {
		return err
	}
	version, err := s.keepBackup(ctx, of, b, content)
	if err != nil {
		return err
	}
	seen := see(b.Path, stamp)
	seen.Version, seen.Racy = version, s.opt.Now.Sub(stamp.ModTime()) < racy
	return s.w.See(rel, seen)
}

// keepBackup adds a backup to the versions of a chat, unless one of them is the same.
func (s *snapshot) keepBackup(ctx context.Context, of *history.Chat, b backups.Backup, c *history.Content) (int64, error) {
	versions, err := s.store.Versions(ctx, of.ID)
	if err != nil {
		return 0, err
	}
	for _, v := range versions {
		if v.Sum == string(c.Sum[:]) {
			s.sum.Unchanged++
			return v.ID, nil
		}
	}
	return s.keep(ctx, of, b.Path, c, history.NewVersion{At: b.At.UnixMilli(), Mtime: b.At.UnixNano(), Source: history.FromBackup, Note: s.opt.Note})
}

// ownerOf finds the chat that a backup is of. One of no known chat is kept under its key.
func (s *snapshot) ownerOf(ctx context.Context, b backups.Backup, c *history.Content) (*history.Chat, error) {
	chats, err := s.store.Chats(ctx)
	if err != nil {
		return nil, err
	}
	chats = slices.DeleteFunc(chats, func(of history.Chat) bool { return !slices.Contains(backupKeys(&of), b.Key) })
	slugs := make([]string, len(chats))
	for i := range chats {
		slugs[i] = chats[i].Slug
	}
	i := backups.Belongs(c.Slug(), slugs, func(i int) int {
		n, shareErr := s.w.Shared(chats[i].ID, c)
		if shareErr != nil {
			err = shareErr
		}
		return int(n)
	})
	if err != nil {
		return nil, err
	}
	if i >= 0 {
		return &chats[i], nil
	}
	of, err := s.w.Identify(history.Candidate{Kind: history.Backup, Owner: "backups", Name: "backup:" + b.Key, Now: s.opt.Now}, c)
	return &of, err
}

// backupKeys gives the keys under which SillyTavern backs a chat up.
func backupKeys(of *history.Chat) []string {
	switch of.Kind {
	case history.Solo:
		return backups.Keys(path.Base(of.Owner))
	case history.Group:
		return backups.Keys(of.Name)
	}
	return nil
}
