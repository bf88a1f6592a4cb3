package keep

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"stchat/internal/backups"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

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
