// Package keep has snapshot, log, restore and history: which files are taken, which backups
// are whose, and what a version changed.
package keep

import (
	"cmp"
	"context"
	"hash/maphash"
	"path"
	"slices"

	"stchat/internal/backups"
	"stchat/internal/history"
	"stchat/internal/lost"
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
	s.reader, s.claims = newStoreReader(s.store), map[int64]*claimant{}
	places, err := s.store.Places(ctx)
	if err != nil {
		return err
	}
	s.keys = keysOf(places)
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
	rev, err := s.add(b.Path, of.Path, c, history.Version{Chat: of.ID, Path: rel, At: b.At, Mtime: b.At.UnixNano(), Source: history.FromBackup, Note: s.opt.Note})
	if err != nil {
		return err
	}
	return s.see(rel, b.Path, stamp, rev)
}

// ownerOf finds the chat that a backup is of. A backup of no known chat is kept under its key.
func (s *snapshot) ownerOf(ctx context.Context, b backups.Backup, c *history.Content) (of history.Chat, err error) {
	var list []*claimant
	var chats []history.Chat
	for _, of := range s.chats {
		if slices.Contains(s.keys[of.ID], b.Key) {
			if s.claims[of.ID] == nil {
				s.claims[of.ID] = newClaimant(ctx, s.reader, &of, of.Path)
			}
			chats, list = append(chats, of), append(list, s.claims[of.ID])
		}
	}
	said, err := s.reader.Read(ctx, b.Path, false)
	if err != nil && ctx.Err() != nil {
		return of, err
	}
	if i := claim(c, said, list); i >= 0 {
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

// claimant is a chat that a backup may be of.
type claimant struct {
	backups.Facts
	rel  string
	said func() *lost.Speech
}

// newClaimant describes a chat of the history: what its longest version says, and its last one.
func newClaimant(ctx context.Context, r *lost.StoreReader, c *history.Chat, rel string) *claimant {
	said := once(func() (list []*lost.Version) {
		versions, err := r.Store.Versions(ctx, c.ID)
		if err != nil || len(versions) == 0 {
			return nil
		}
		longest := slices.MaxFunc(versions, func(a, b history.Version) int { return cmp.Compare(a.Messages, b.Messages) })
		for _, v := range []history.Version{longest, versions[len(versions)-1]} {
			if said, err := r.Version(ctx, &v); err == nil { // what is damaged is no evidence, and verify names it
				list = append(list, said)
			}
		}
		return list
	})
	return &claimant{backups.Facts{Slug: c.Slug, Parent: c.Main, Name: userdir.ChatName(rel), Begins: true}, rel, said}
}

// claim returns the index of the chat that a backup is of, -1 if it is none of them. With
// another slug than the chat's it must share half of what it says, and not leave it.
func claim(c *history.Content, said *lost.Version, list []*claimant) int {
	facts := make([]backups.Facts, len(list))
	for i := range list {
		facts[i] = list[i].Facts
	}
	b := backups.Facts{Slug: c.Slug(), Parent: c.Main()}
	speech := lost.NewSpeech(said)
	return backups.Belongs(b, facts, func(i int) int {
		n := speech.Shared(list[i].said())
		if same := b.Slug != "" && b.Slug == facts[i].Slug; !same && (b.Slug != "" && facts[i].Slug != "" && 2*n < speech.Len() || said != nil && said.Leaves(list[i].said().Has)) {
			return 0
		}
		return n
	})
}

// newStoreReader reads what versions and files say.
func newStoreReader(s *history.Store) *lost.StoreReader {
	return lost.NewStoreReader(s, lost.NewReader(maphash.MakeSeed(), nil))
}

// loneBackups begins the names of backups whose chat is not known.
const loneBackups = "backup:"

// keysOf returns the keys under which SillyTavern ever backed each chat up.
func keysOf(places []history.Place) map[int64][]string {
	keys := map[int64][]string{}
	for _, p := range places {
		keys[p.Chat] = append(keys[p.Chat], backupKeys(p.Path)...)
	}
	return keys
}

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
