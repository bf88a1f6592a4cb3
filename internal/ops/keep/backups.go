// Package keep has snapshot, log, restore and history: which files are taken, which backups
// are whose, and what a version changed.
package keep

import (
	"context"
	"errors"
	"path"
	"slices"

	"stchat/internal/backups"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// takeBackups takes SillyTavern's backups as earlier versions of their chats.
func (s *snapshot) takeBackups(ctx context.Context) (err error) {
	folder, err := backups.Read(userdir.Dir{Root: s.root})
	if err != nil {
		s.fail(s.root, ops.PathError(err))
		return nil
	}
	bytes := int64(0)
	for _, b := range folder.Backups {
		bytes += b.Size
	}
	s.opt.Meter.Expect(len(folder.Backups), bytes)
	if s.chats, err = s.store.Chats(ctx); err != nil {
		return err
	}
	return s.each(ctx, len(folder.Backups), func(i int) error { return s.takeBackup(ctx, folder.Backups[i]) })
}

// takeBackup adds a backup to the versions of a chat, unless one of them equals it.
func (s *snapshot) takeBackup(ctx context.Context, b backups.Backup) error {
	rel, stamp, ok := s.stamp(b.Path)
	if !ok || s.unchanged(rel, b.Path, stamp) {
		return nil
	}
	c, stamp, err := s.readFile(b.Path, true)
	if err != nil || c == nil {
		return err
	}
	of, err := s.ownerOf(ctx, b, c)
	if err != nil {
		return err
	}
	versions, err := s.store.Versions(ctx, of.ID)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(versions, func(v history.Version) bool { return v.Sum == string(c.Sum[:]) }); i >= 0 {
		s.sum.Unchanged++
		return s.see(rel, b.Path, stamp, versions[i].Rev)
	}
	rev, err := s.add(b.Path, of.Path, c, history.Version{Chat: of.ID, Path: rel, At: b.At, Mtime: b.At, Source: history.FromBackup, Note: s.opt.Note})
	if err != nil {
		return err
	}
	return s.see(rel, b.Path, stamp, rev)
}

// ownerOf finds the chat that a backup is of. A backup of no known chat is kept under its key.
func (s *snapshot) ownerOf(ctx context.Context, b backups.Backup, c *history.Content) (history.Chat, error) {
	chats := slices.DeleteFunc(slices.Clone(s.chats), func(of history.Chat) bool { return !slices.Contains(backupKeys(of.Path), b.Key) })
	slugs := make([]string, len(chats))
	for i := range chats {
		slugs[i] = chats[i].Slug
	}
	var err error
	i := backups.Belongs(c.Slug(), slugs, func(i int) int {
		last, _, lastErr := s.store.Last(ctx, chats[i].ID, newest)
		err = errors.Join(err, lastErr)
		runs, _ := last.Runs() // a damaged list shares nothing
		return int(history.Common(c.Runs, runs))
	})
	if err != nil {
		return history.Chat{}, err
	}
	if i >= 0 {
		return chats[i], nil
	}
	lone := history.Chat{Path: "backups/" + loneBackups + b.Key, Slug: c.Slug()}
	if lone.ID = s.lastAt(lone.Path); lone.ID != 0 {
		return lone, nil
	}
	if lone, err = s.w.Found(lone); err != nil {
		return lone, err
	}
	s.chats = append(s.chats, lone)
	return lone, s.w.Enter(history.Place{Chat: lone.ID, Path: lone.Path, First: 1, Until: 1}) // at no time a file was there
}

// loneBackups begins the names of backups whose chat is not known.
const loneBackups = "backup:"

// backupKeys returns the keys under which SillyTavern backs the chat at a path up.
func backupKeys(rel string) []string {
	switch history.KindOf(rel) {
	case history.Solo:
		return backups.Keys(path.Base(path.Dir(rel)))
	case history.Group:
		return backups.Keys(userdir.ChatName(rel))
	}
	return nil
}
