package keep

import (
	"cmp"
	"context"
	"hash/maphash"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"stchat/internal/history"
	"stchat/internal/history/lost"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/chat"
)

// takeBackups takes SillyTavern's backups as earlier versions of their chats.
func (s *snapshot) takeBackups(ctx context.Context) (err error) {
	folder, err := backups.Read(userdir.Dir{Root: s.root})
	if err != nil {
		s.fail(s.root, err)
		return nil
	}
	bytes := int64(0)
	for _, b := range folder.Backups {
		bytes += b.Size
	}
	s.opt.Meter.Expect(len(folder.Backups), bytes)
	if err := s.now.read(ctx); err != nil {
		return err
	}
	s.claims = newClaims(ctx, s.now)
	return s.each(ctx, len(folder.Backups), func(i int) error { return s.takeBackup(ctx, folder.Backups[i]) })
}

// takeBackup adds a backup to the versions of a chat, unless it is what the history has of that time anyway.
func (s *snapshot) takeBackup(ctx context.Context, b backups.Backup) error {
	f, err := s.readFile(b.Path, true)
	if err != nil || f == nil {
		return err
	}
	of, err := s.ownerOf(ctx, b, f)
	if err != nil {
		return err
	}
	versions, err := s.now.store.Versions(ctx, of.ID)
	if err != nil {
		return err
	}
	then, isKept := lastUntil(versions, b.At)
	if isKept && then.Sum == string(f.content.Sum[:]) {
		s.sum.Unchanged++
		f.rev = then.Rev
		return s.see(f)
	}
	version := history.Version{Chat: of.ID, Path: f.Path, At: b.At, Mtime: b.At.UnixNano(), Source: history.FromBackup, Note: s.opt.Note}
	if err := s.add(f, of.Path, version); err != nil {
		return err
	}
	return s.see(f)
}

// lastUntil returns the last of a file's versions, the oldest of which is first, that is not later than a time.
func lastUntil(versions []history.Version, at time.Time) (last history.Version, ok bool) {
	for _, v := range versions {
		if v.At.After(at) {
			break
		}
		last = v
		ok = true
	}
	return last, ok
}

// ownerOf finds the chat that a backup is of. A backup of no known chat is kept under its key.
func (s *snapshot) ownerOf(ctx context.Context, b backups.Backup, f *foundFile) (of history.Chat, err error) {
	if owner, err := s.claims.owner(ctx, b, f.Slug, f.Main); err != nil {
		return of, err
	} else if owner != nil {
		return owner.Chat, nil
	}

	lone := history.Chat{Path: "backups/" + loneBackups + b.Key, Slug: f.Slug}
	if lone.ID = s.now.last(lone.Path); lone.ID != 0 {
		return lone, nil
	}
	if lone, err = s.w.Found(lone); err != nil {
		return lone, err
	}
	at := history.Place{Chat: lone.ID, Path: lone.Path, First: 1, Until: 1} // at no time a file was there
	s.now.places = append(s.now.places, at)
	return lone, s.w.Enter(at)
}

// claims are the chats that backups may be of.
type claims struct {
	*lost.StoreReader
	list []*claimant
}

// claimant is a chat that a backup may be of.
type claimant struct {
	history.Chat          // where it is, or was last; without an ID if the history does not know it
	begins       bool     // as in [backups.Facts]
	keys         []string // under which SillyTavern ever backed it up
	said         func() *lost.Speech
}

// newClaims lists the chats of a history.
func newClaims(ctx context.Context, now *present) *claims {
	c := &claims{StoreReader: newStoreReader(now.store)}
	keys := map[int64][]string{}
	for _, p := range now.places {
		keys[p.Chat] = append(keys[p.Chat], backupKeys(p.Path)...)
	}
	for _, of := range now.list {
		of.Path = now.lastPath(of.ID)
		c.list = append(c.list, &claimant{of, true, append(keys[of.ID], backupKeys(of.Path)...), sync.OnceValue(func() *lost.Speech { return c.read(ctx, of.ID) })})
	}
	return c
}

// read reads what a chat of the history says: its longest version, and its last one.
func (c *claims) read(ctx context.Context, id int64) *lost.Speech {
	versions, err := c.Store.Versions(ctx, id)
	if err != nil || len(versions) == 0 {
		return lost.NewSpeech()
	}
	longest := slices.MaxFunc(versions, func(a, b history.Version) int { return cmp.Compare(a.Messages, b.Messages) })
	first, _ := c.Version(ctx, &longest) // what is damaged is no evidence, and verify names it
	last, _ := c.Version(ctx, &versions[len(versions)-1])
	return lost.NewSpeech(first, last)
}

// owner returns the chat that a backup is of, nil if it is none of them. With another slug than the
// chat's it must share half of what it says, and not leave it.
func (c *claims) owner(ctx context.Context, b backups.Backup, slug, main string) (*claimant, error) {
	said, err := c.Read(ctx, b.Path, false)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	var list []*claimant
	var facts []backups.Facts
	for _, chat := range c.list {
		if slices.Contains(chat.keys, b.Key) {
			list, facts = append(list, chat), append(facts, backups.Facts{Slug: chat.Slug, Parent: chat.Main, Name: userdir.ChatName(chat.Path), Begins: chat.begins})
		}
	}

	is := backups.Facts{Slug: slug, Parent: main}
	speech := lost.NewSpeech(said)
	i := backups.Belongs(is, facts, func(i int) int {
		shared := speech.Shared(list[i].said())
		if is.Slug != "" && is.Slug == facts[i].Slug {
			return shared
		}
		slugsDiffer := is.Slug != "" && facts[i].Slug != ""
		saysTooLittle := slugsDiffer && 2*shared < speech.Len()
		leavesIt := said != nil && said.Own(list[i].said().Has) > 1
		if saysTooLittle || leavesIt {
			return 0
		}
		return shared
	})
	if i < 0 {
		return nil, nil
	}
	return list[i], nil
}

// addBackups adds those of SillyTavern's backups that belong to the chat and are not in the store.
func (s *subject) addBackups(ctx context.Context) error {
	folder, err := backups.Read(userdir.Dir{Root: s.root})
	if err != nil {
		return ops.PathError(err)
	}
	all := newClaims(ctx, s.present)
	keys := backupKeys(s.rel)
	for _, c := range all.list {
		if c.ID == s.id {
			c.Path, keys = s.rel, append(keys, c.keys...)
		}
	}

	shares := func(key string) bool { return slices.Contains(keys, key) }
	mine := slices.DeleteFunc(folder.Backups, func(b backups.Backup) bool { return !shares(b.Key) })
	if len(mine) == 0 {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Dir(s.path)) // the folder may be gone, too
	for _, e := range entries {
		rel := path.Join(path.Dir(s.rel), e.Name())
		with := backupKeys(rel)
		if s.ids[rel] != 0 || !e.Type().IsRegular() || !slices.ContainsFunc(with, shares) || !userdir.HasExtension(rel) {
			continue
		}
		said, err := all.Read(ctx, filepath.Join(filepath.Dir(s.path), e.Name()), false)
		if err != nil {
			return ops.PathError(err)
		}
		of := history.Chat{Slug: said.Slug, Main: said.Parent, Path: rel}
		all.list = append(all.list, &claimant{of, said.Begins, with, sync.OnceValue(func() *lost.Speech { return lost.NewSpeech(said) })})
	}

	w, err := history.NewWriter(ctx, s.store)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close(true) }() // nothing was written
	for _, b := range mine {
		c, ends, err := compare(w, b.Path)
		if err != nil {
			return err
		}
		owner, err := all.owner(ctx, b, c.Slug, c.Main)
		if err != nil {
			return err
		}
		isOurs := owner != nil && owner.ID == s.id && owner.Path == s.rel // one that is gone may have had the path, too
		if !isOurs || slices.ContainsFunc(s.versions, func(v version) bool { return v.Sum == string(c.Sum[:]) }) {
			continue
		}
		s.versions = append(s.versions, version{
			Version: history.Version{At: b.At, Size: c.Size, Messages: c.Messages, Source: history.FromBackup, Sum: string(c.Sum[:])},
			file:    b.Path, runs: c.Runs, ends: ends,
		})
	}

	slices.SortStableFunc(s.versions, func(a, b version) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Rev, a.Rev)) })
	return nil
}

// compare reads a file for comparison with what the store has, and says where its lines end.
func compare(w *history.Writer, path string) (c *history.Content, ends []int64, err error) {
	f, err := chat.OpenRegular(path)
	if err != nil {
		return nil, nil, ops.PathError(err)
	}
	defer f.Close()
	lines := &lineEnds{Reader: f}
	c, err = w.Read(lines, userdir.HasExtension(path))
	return c, append(lines.ends, lines.read), err
}

// newStoreReader reads what versions and files say.
func newStoreReader(s *history.Store) *lost.StoreReader {
	return lost.NewStoreReader(s, lost.NewReader(maphash.MakeSeed(), nil))
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
