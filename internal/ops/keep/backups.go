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

// takeBackups takes SillyTavern's backups as earlier versions of their chats.
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
	return s.each(ctx, len(folder.Backups), func(i int) error {
		b := folder.Backups[i]
		return s.takeFile(b.Path, true, func(_ string, content *history.Content, _ safefile.Stamp) (int64, error) {
			of, err := s.ownerOf(ctx, b, content)
			if err != nil {
				return 0, err
			}
			return s.keepBackup(ctx, of, b, content)
		})
	})
}

// keepBackup adds a backup to the versions of a chat, unless one of them equals it, and returns
// the ID of the version with its content.
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

// ownerOf finds the chat that a backup is of. A backup of no known chat is kept under its key.
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
		runs, lastErr := s.store.LastRuns(ctx, chats[i].ID)
		err = errors.Join(err, lastErr)
		return int(history.Common(c.Runs, runs))
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
