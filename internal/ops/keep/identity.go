// Package keep has snapshot, log, restore and history: which files are taken, which backups
// are whose, and what a version changed.
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

	"stchat/internal/history"
	"stchat/internal/history/lost"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/chat"
)

// facts are what identity is judged by: of a file that a snapshot found, or of one that a history
// knows. A file's slug is empty if it has none, or one that Luker changes at every save.
type facts struct {
	history.Chat // of a file without an ID until it is judged, and afterwards if it is a new one
	state        presence
	said         func() *lost.Speech // of one that a history knows: in its last version
	order        int                 // likewise: among them
	taken        bool                // likewise: a file is it
}

// presence says what became of the file where a chat was last.
type presence int

// What may have become of it.
const (
	held    presence = iota // it is there and did not change, or was not looked at
	changed                 // a file that was found has its path
	missing                 // it is not there any more
	before                  // likewise, and it was not there at the last snapshot either
)

// identity decides which chats files are. It depends on nothing but the facts.
type identity struct {
	files []*facts
	chats []*facts

	at    map[string]*facts // the files by path
	here  map[string]*facts // the chats that were there at the last snapshot and are not missing, likewise
	slugs map[string]int    // how many files and chats have each
	known map[string]bool
	lacks bool // a chat is missing whose slug tells nothing
}

// judge finds out which chat each file is. The evidence is what is said, and the slug where it is one
// chat's alone: branches inherited it up to SillyTavern 1.18, and Luker changes it at every save.
func judge(files, chats []*facts) {
	j := &identity{files: files, chats: chats, at: map[string]*facts{}, here: map[string]*facts{}, slugs: map[string]int{}, known: map[string]bool{}}
	for i, c := range chats {
		c.order = i
		j.slugs[c.Slug]++
		j.known[c.Path] = true
		j.lacks = j.lacks || c.state == missing && (c.Slug == "" || j.slugs[c.Slug] > 1)
		if c.state <= changed {
			j.here[c.Path] = c
		}
	}
	for _, f := range files {
		j.at[f.Path] = f
		if c := j.here[f.Path]; c == nil || c.Slug != f.Slug {
			j.slugs[f.Slug]++
		}
	}
	for _, f := range files {
		if c := j.here[f.Path]; c != nil && j.goesOn(f, c) {
			setChat(f, c)
		}
	}
	j.bySlug()
	j.byTexts()
	j.byPath()
}

func setChat(f, c *facts) { f.ID, c.taken = c.ID, true }

// sure reports whether a slug is one chat's alone.
func (j *identity) sure(slug string) bool { return slug != "" && j.slugs[slug] == 1 }

// goesOn reports whether a file is the chat that had its path, without a look at others: it has
// its slug, or where that tells nothing, what was said last, and no other chat is missing.
func (j *identity) goesOn(f, c *facts) bool {
	if j.sure(f.Slug) || j.sure(c.Slug) {
		return f.Slug == c.Slug
	}
	return !j.lacks && f.Slug == c.Slug && f.Main == c.Main && f.said().Ends(c.said())
}

// free reports whether a file may be a chat that was elsewhere, or was gone.
func (j *identity) free(f, c *facts) bool {
	if c.taken || c.state == held || c.state == changed && f.Path == c.Path {
		return false
	}
	// a branch names the chat that it was made from, and goes on naming it
	from := path.Join(path.Dir(f.Path), f.Main+".jsonl")
	if f.Main == c.Main { // which may have had another name then, so that it names itself
		return f.Main == "" || from != c.Path || c.state != changed || j.at[from].said().Len() > 0
	}
	return f.Main != "" && from != c.Path && !j.known[from]
}

// bySlug finds the chats that have the slug of a file, and something that it says.
func (j *identity) bySlug() {
	may := map[*facts]int{} // of a file, how many chats it may be; of a chat, how many files may be it
	var pairs [][2]*facts
	for _, f := range j.files {
		if c := j.here[f.Path]; f.Slug == "" || f.ID != 0 || c != nil && c.Slug == f.Slug {
			continue
		}
		for _, c := range j.chats {
			if c.Slug != f.Slug || !j.free(f, c) {
				continue
			}
			a, b := f.said(), c.said()
			// where others have the slug, too, as branches did, it must say what was said last
			if a.Shared(b) > 0 && (j.slugs[f.Slug] <= 2 || a.Ends(b)) || a.Len()+b.Len() == 0 && a.Greets(b) {
				may[f]++
				may[c]++
				pairs = append(pairs, [2]*facts{f, c})
			}
		}
	}
	for _, p := range pairs {
		if may[p[0]] == 1 && may[p[1]] == 1 {
			setChat(p[0], p[1])
		}
	}
}

// byTexts finds the chats that say most of what a file says, where a slug is missing or that of
// several. Two slugs that differ are never one chat, except at one path.
func (j *identity) byTexts() {
	type pair struct {
		file, chat   *facts
		shared       int
		other, moved int // 1: it names another main_chat; it is at another path
	}
	var pairs []pair
	add := func(f, c *facts, shared, moved int) {
		p := pair{f, c, shared, 0, moved}
		if f.Main != c.Main {
			p.other = 1
		}
		pairs = append(pairs, p)
	}
	contested := map[*facts]bool{}
	for _, f := range j.files {
		if f.ID != 0 {
			continue
		}
		for _, c := range j.chats {
			if f.Slug != c.Slug && f.Slug != "" && c.Slug != "" || c.state == before && path.Dir(c.Path) != path.Dir(f.Path) || !j.free(f, c) {
				continue
			}
			// it must say what was said last, or if it has no slug either, but for an edit since it left
			if n := f.said().Shared(c.said()); n > 0 && 2*n >= c.said().Len() && (f.said().Ends(c.said()) || f.Slug == "" && c.state != before && f.said().GoesOn(c.said())) && !j.forked(f, c) {
				add(f, c, n, 1)
				contested[f], contested[c] = true, true
			}
		}
	}
	for _, f := range j.files {
		if c := j.here[f.Path]; f.ID == 0 && c != nil && !c.taken && (contested[f] || contested[c]) {
			add(f, c, f.said().Shared(c.said()), 0)
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.shared, a.shared), cmp.Compare(a.other, b.other), cmp.Compare(a.moved, b.moved), cmp.Compare(a.chat.state, b.chat.state), cmp.Compare(b.chat.order, a.chat.order))
	})
	for _, p := range pairs {
		if p.file.ID == 0 && !p.chat.taken {
			setChat(p.file, p.chat)
		}
	}
}

// forked reports whether a file was branched from its parent later on than a chat: it does not end
// as that did, and says more of what the parent says.
func (j *identity) forked(f, c *facts) bool {
	at := path.Join(path.Dir(f.Path), f.Main+".jsonl")
	parent := j.at[at]
	if parent == nil || parent == f {
		if parent = j.here[at]; parent == nil || parent.state != held {
			return false
		}
	}
	return !f.said().Ends(c.said()) && f.said().Repeats(parent.said()) > c.said().Repeats(parent.said())
}

// byPath leaves a file to the chat that had its path, unless it is another one there, or else to
// the one that was there last.
func (j *identity) byPath() {
	for _, f := range j.files {
		if f.ID != 0 {
			continue
		}
		if c := j.here[f.Path]; c != nil && !c.taken {
			if !stranger(f, c) && (f.Slug+c.Slug != "" || !j.forked(f, c)) {
				setChat(f, c)
			}
			continue
		}
		var last *facts
		for _, c := range j.chats {
			if c.state == before && c.Path == f.Path && !c.taken && (last == nil || last.Gone <= c.Gone) {
				last = c
			}
		}
		if last != nil && (f.Slug != "" && f.Slug == last.Slug || f.said().Len() == 0 || f.said().Shared(last.said()) > 0) {
			setChat(f, last)
		}
	}
}

// stranger reports whether a file has nothing of the chat that had its path: another slug, and
// no word. A greeting that was written over a chat is no stranger.
func stranger(f, c *facts) bool {
	if f.Slug == "" || c.Slug == "" || f.Slug == c.Slug {
		return false
	}
	a, b := f.said(), c.said()
	return a.Len() > 0 && b.Len() > 0 && a.Shared(b) == 0 && !a.Greets(b)
}

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

// takeBackup adds a backup to the versions of a chat, unless one of them equals it.
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
	if i := slices.IndexFunc(versions, func(v history.Version) bool { return v.Sum == string(f.content.Sum[:]) }); i >= 0 {
		s.sum.Unchanged++
		f.rev = versions[i].Rev
	} else if err := s.add(f, of.Path, history.Version{Chat: of.ID, Path: f.Path, At: b.At, Mtime: b.At.UnixNano(), Source: history.FromBackup, Note: s.opt.Note}); err != nil {
		return err
	}
	return s.see(f)
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
		n := speech.Shared(list[i].said())
		if same := is.Slug != "" && is.Slug == facts[i].Slug; !same && (is.Slug != "" && facts[i].Slug != "" && 2*n < speech.Len() || said != nil && said.Own(list[i].said().Has) > 1) {
			return 0
		}
		return n
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
		if owner == nil || owner.Path != s.rel || slices.ContainsFunc(s.versions, func(v version) bool { return v.Sum == string(c.Sum[:]) }) {
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
