package keep

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stchat/internal/history"
	"stchat/internal/history/lost"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/group"
	"stchat/internal/text/progress"
)

// finder finds what is lost in one root: its chats are compared with older versions of them.
type finder struct {
	root   *ops.Root
	opt    *LostOptions
	named  map[string][]string // by the names that chats were asked for by: the real paths that they may mean
	seed   maphash.Seed
	folder *backups.Folder
	owners backups.Owners
	firsts map[string]time.Time // when the oldest backup under each key was made
	groups *group.Set
	now    *present // what the root's history knows, if there is one

	chats    []*lostChat // live ones, those that were deleted on purpose, then those of the history that are gone
	versions []*lostVersion
	seen     []*lostVersion // if chats are named, which are told message by message: also those that say nothing new
	sources  []LostSource
	errs     []error

	byPath map[string]int // indexes of the live chats
	byID   map[int64]int

	found       []*loss
	asked       map[string]asked // what names stand for, as far as that was asked
	groupsAsked []string         // the real paths of the files of groups all of whose chats were asked for
	answered    []string         // names that nobody has, and to which there is an answer all the same
	roots       lost.Set         // what chats that were no branches say; nil until it is asked for
}

// fate is what became of a chat.
type fate int

// What may have become of one.
const (
	isLive     fate = iota
	wasDeleted      // on purpose
	isGone          // nobody knows why
	isUnknown       // gone, and only backups or other files know it
)

// lostChat is a chat that may have lost something.
type lostChat struct {
	path    string // "" if it is not known
	read    string // the file that is read: the one undo keeps if the chat was deleted
	fate    fate
	parent  string // the real path of the chat that it names as its parent
	changed time.Time
	of      backups.Owner   // mostly without the group's name; without a name if it is not known
	owners  []backups.Owner // that one, and those that the history knows, which it once had
	keys    []string        // of their backups
	said    *lost.Version
	slugs   []string     // that its versions in the history have
	also    []lost.Text  // what its longest version in the history says, of what is not live
	last    *lostVersion // of one that is gone: what the history has of it last, but for greetings written over it

	live func() *lost.Live // what it says, prepared for comparison
}

// lostVersion is an older version of some chat.
type lostVersion struct {
	path     string           // empty if it is in the history
	stored   *history.Version // otherwise
	of       int64            // the chat that it is of by the history; 0: that is not known
	at       time.Time
	key      string // of a backup, under which SillyTavern keeps it
	chat     string // the path of its chat; empty if not known
	copied   bool   // it is in a folder with copies
	restored bool   // restore made it, and undo took it away again
	said     *lost.Version
	kept     bool // it is the last of a chat that is gone

	match
	lost     int
	reworded int
	skip     bool // there is nothing to report
}

// match says which chat a version belongs to.
type match struct {
	target    int  // index in the finder's chats; below 0: the chat is unknown
	weak      bool // poor evidence: the chat has little more than a beginning that many chats share
	ambiguous bool // another chat is equally likely
}

// begins reports whether a chat has nothing but its greetings, which may be written over another.
func (c *lostChat) begins() bool {
	return c.said.Messages <= 1 || c.said.Greets(c.of.Kind == userdir.Group)
}

// mayHaveBeen reports whether a chat has no message, and nothing tells that an older version is not of it.
func (c *lostChat) mayHaveBeen(v *lostVersion) bool {
	if c.fate != isLive || c.said.Messages > 0 || v.at.After(c.changed) {
		return false
	}
	otherSlug := c.said.Slug != "" && v.said.Slug != "" && c.said.Slug != v.said.Slug
	otherParent := c.said.Parent != "" && c.said.Parent != v.said.Parent || v.said.Parent == userdir.ChatName(c.path)
	return !otherSlug && !otherParent
}

// has reports whether a chat has, or had, a slug.
func (c *lostChat) has(slug string) bool {
	return slug != "" && (c.said.Slug == slug || slices.Contains(c.slugs, slug))
}

func newFinder(root *ops.Root, opt *LostOptions) *finder {
	return &finder{
		root: root, folder: &backups.Folder{}, now: &present{root: root.Path}, opt: opt, seed: maphash.MakeSeed(),
		named: pathsOf(root.Path, opt.Names), byPath: map[string]int{}, byID: map[int64]int{}, asked: map[string]asked{},
	}
}

// pathsOf returns the real paths of the chats that each name may mean.
func pathsOf(root string, list []string) map[string][]string {
	all := make(map[string][]string, len(list))
	addresses := finderIn(root)
	for _, name := range list {
		paths := addresses.Places(name)
		for _, rel := range plainPaths(root, name) {
			paths = append(paths, filepath.Join(root, filepath.FromSlash(rel)))
		}
		for _, path := range paths {
			all[name] = append(all[name], userdir.RealPath(path))
		}
	}
	return all
}

// find reads the chats and all older versions, and compares them. The error is that ctx ended.
func (f *finder) find(ctx context.Context, copies []ops.Target) error {
	f.openStore(ctx)
	f.findGroupsAsked(ctx)
	f.list(ctx, copies)
	f.opt.Meter.Expect(len(f.chats)+len(f.versions), 0)
	path := func(i int) string { return f.chats[i].read }
	if err := f.each(ctx, len(f.chats), nil, path, func(i int, v *lost.Version) { f.chats[i].said = v }); err != nil {
		return err
	}
	var texts [][]lost.Text
	for i, c := range f.chats {
		f.owned(c, 0, c.of)
		if c.fate == isLive {
			f.byPath[userdir.RealPath(c.path)] = i
			texts = append(texts, c.said.Texts)
			c.live = sync.OnceValue(func() *lost.Live { return lost.NewLive(c.said.Texts) })
		}
	}

	live := lost.NewSet(texts...)
	inFiles := f.versions // those of the history say whose the others are
	if f.versions = nil; f.now.store != nil {
		err := f.now.look(ctx, f.opt.Now, "", false)
		if err == nil {
			err = f.readChats(ctx, lost.NewStoreReader(f.now.store, lost.NewReader(f.seed, live)))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f.fail(err)
	}

	path = func(i int) string { return inFiles[i].path }
	err := f.each(ctx, len(inFiles), live, path, func(i int, v *lost.Version) {
		inFiles[i].said = v
		f.count(inFiles[i])
	})
	f.versions = append(f.versions, inFiles...)
	f.see(inFiles)
	if len(f.sources) == 0 && f.now.store == nil && len(f.opt.From)+len(f.errs) == 0 {
		err := ErrNoSource
		if isElsewhere := filepath.Clean(f.root.Path) != "."; isElsewhere {
			err = fmt.Errorf("%s: %w", f.root.Path, err)
		}
		f.errs = append(f.errs, err)
	}
	return err
}

// each calls got with what n files say: several small ones at once, large ones one at a time on all
// processors. Files that no longer exist are skipped.
func (f *finder) each(ctx context.Context, n int, live lost.Set, path func(i int) string, got func(i int, v *lost.Version)) error {
	errs := make([]error, n)
	newReader := func() *lost.Reader { return lost.NewReader(f.seed, live) }
	progress.SmallFirst(ctx, n, f.opt.Meter, newReader, func(r *lost.Reader, i int, small bool) bool {
		v, err := r.Read(ctx, path(i), small)
		if v != nil {
			got(i, v)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs[i] = ops.PathError(err)
		}
		return v != nil || err != nil
	})

	f.errs = append(f.errs, slices.DeleteFunc(errs, func(err error) bool { return err == nil })...)
	return ctx.Err()
}

// count finds which chat a version belongs to, and counts what that chat lost. It may run
// for several versions at once.
func (f *finder) count(v *lostVersion) {
	at, known := f.byID[v.of]
	if name := userdir.ChatName(v.chat); v.restored && strings.HasPrefix(name, v.said.Parent+"__") { // of a chat that is there
		at, known = f.byPath[userdir.RealPath(filepath.Join(filepath.Dir(v.chat), v.said.Parent+names.Extension))]
		v.said.Parent = "" // restore wrote it
	}
	defer func() {
		if v.skip && !v.kept && !f.opt.byMessage() {
			v.said.Texts = nil
		}
	}()

	v.skip = v.said.Missing == 0 || v.said.Greets(f.isOfGroup(v))
	if v.skip {
		return
	}
	v.match = match{target: at}
	if !known {
		v.match = f.assign(v)
	}
	if v.target >= 0 && f.chats[v.target].fate == isLive {
		v.lost, v.reworded = f.chats[v.target].live().Compare(v.said.Texts, nil, v.copied)
		v.skip = v.lost == 0 && !v.weak
	}
}

// assign returns the chat that a version belongs to.
func (f *finder) assign(v *lostVersion) match {
	texts := lost.NewSet(v.said.Texts)
	if i, ok := f.byPath[userdir.RealPath(v.chat)]; ok && v.chat != "" {
		c := f.chats[i]
		if c.said.Slug == v.said.Slug || texts.Shared(c.said.Texts) > 0 || c.mayHaveBeen(v) {
			return match{target: i}
		}
	}

	candidates, known := f.candidates(v)
	m := f.choose(v, texts, candidates)
	if m.weak && v.chat != "" {
		m = match{target: -1} // another chat's name takes better evidence
	}
	if m.target >= 0 && !m.weak || !known {
		return m
	}
	var same []int // moved to another owner: known by its slug
	for i, c := range f.chats {
		if c.has(v.said.Slug) {
			same = append(same, i)
		}
	}

	if moved := f.choose(v, texts, same); moved.target >= 0 {
		return moved
	}
	if m.target < 0 && v.chat == "" {
		return f.firstEmptied(v, candidates)
	}
	return m
}

// firstEmptied returns, of the candidates without a message, the one that was changed first after the
// version was made: it may have lost its messages then. That is poor evidence, but better than a name
// that nobody gave.
func (f *finder) firstEmptied(v *lostVersion, candidates []int) match {
	m := match{target: -1}
	for _, i := range candidates {
		if !f.chats[i].mayHaveBeen(v) { // it is empty, and was changed later
			continue
		}
		m.ambiguous = m.target >= 0
		if m.target < 0 || f.chats[i].changed.Before(f.chats[m.target].changed) {
			m.target = i
		}
	}

	m.weak = m.target >= 0
	return m
}

// candidates returns the chats that a version may belong to, by its key or its path. known
// is false if these do not lead to an owner with chats: then it may be any chat.
func (f *finder) candidates(v *lostVersion) (list []int, known bool) {
	for i, c := range f.chats {
		if v.chat != "" && slices.Contains(c.owners, ownerOf(v.chat)) || v.chat == "" && slices.Contains(c.keys, v.key) {
			list = append(list, i)
		}
	}

	if len(list) > 0 {
		return list, true
	}
	for i, c := range f.chats {
		// a group's chat that was backed up under its own name before has that since
		hadItsName := v.key != "" && c.of.Kind == userdir.Group && slices.ContainsFunc(backups.Keys(c.of.Name), func(key string) bool {
			first, ok := f.firsts[key]
			return ok && first.Before(v.at)
		})
		if c.has(v.said.Slug) || !hadItsName {
			list = append(list, i)
		}
	}
	return list, false
}

// choose picks one of the candidates. If the slugs do not decide, it must share half of the
// version's messages, or half of its own. The latter is weak: a chat that was overwritten by
// the greeting has nothing else, and all chats of a character begin with it.
func (f *finder) choose(v *lostVersion, texts lost.Set, candidates []int) match {
	facts := make([]backups.Facts, len(candidates))
	scores := make([]int, len(candidates))
	for i, at := range candidates {
		c := f.chats[at]
		facts[i] = backups.Facts{Slug: c.said.Slug, Parent: c.said.Parent, Name: userdir.ChatName(c.path), Begins: c.begins()}
		if c.has(v.said.Slug) {
			facts[i].Slug = v.said.Slug
		}
	}

	best := backups.Belongs(backups.Facts{Slug: v.said.Slug, Parent: v.said.Parent}, facts, func(i int) int {
		c := f.chats[candidates[i]]
		n := max(texts.Shared(c.said.Texts), texts.Common(c.also))
		if 2*n < len(v.said.Texts) && (2*n < c.said.Messages || c.fate == wasDeleted) {
			return 0
		}
		if n > 0 && !c.has(v.said.Slug) && !c.begins() {
			if own := v.said.Own(lost.NewSet(c.said.Texts, c.also).Has); own > 1 || own > 0 && f.forked(c, v.said) {
				return 0 // another branch from there
			}
		}

		scores[i] = 2 * n
		if n > 0 && c.changed.After(v.at) {
			scores[i]++ // of those that share as much, one written since is more likely
		}
		return scores[i]
	})

	if best < 0 {
		return match{target: -1}
	}
	m := match{target: candidates[best], weak: scores[best] > 0 && scores[best] < len(v.said.Texts)}
	for i, n := range scores {
		m.ambiguous = m.ambiguous || i != best && n > 0 && n == scores[best]
	}
	return m
}

// forked reports whether a chat was branched from its parent later on than a version that does not
// end as it does: it has more of what the parent says, so it never was that version.
func (f *finder) forked(c *lostChat, v *lost.Version) bool {
	at, ok := f.byPath[c.parent]
	if !ok || c.said.Parent == "" {
		return false
	}
	parent := lost.NewSet(f.chats[at].said.Texts, f.chats[at].also)
	return parent.Shared(c.said.Texts) > parent.Common(v.Texts)
}

// openStore opens the root's history, if it has one. A problem with it is added to errs, and
// the search goes on.
func (f *finder) openStore(ctx context.Context) {
	s, err := history.OpenRead(ctx, StoreOf(f.root.Path, f.opt.Store))
	root := f.root.Path
	if err == nil && !f.root.User {
		var of string
		of, err = s.Root(ctx) // of loose chats it may be a folder above
		if userdir.RealPath(of) != userdir.RealPath(root) {
			root = of
		}
	}
	if err == nil {
		f.now = &present{store: s, root: root}
		err = f.now.read(ctx)
	}
	if !errors.Is(err, history.ErrNoStore) && ctx.Err() == nil {
		f.fail(err)
	}
}

// fail notes an error, if it is one; the search goes on.
func (f *finder) fail(err error) {
	if err != nil {
		f.errs = append(f.errs, ops.PathError(err))
	}
}

// readChats judges the versions of each chat in the history. Those of a chat that was deleted on
// purpose are not lost.
func (f *finder) readChats(ctx context.Context, r *lost.StoreReader) error {
	source := LostSource{Kind: LostInHistory, Path: f.now.store.Path()}
	var lone []*lostVersion // backups of chats that are not known
	for _, c := range f.now.list {
		path := f.now.full(f.now.lastPath(c.ID))
		if !history.KindOf(c.Path).IsChat() || !f.root.User && !f.loose(&c, path) {
			continue
		}
		versions, err := f.read(ctx, r, &c, path)
		if err != nil {
			return err
		}
		f.see(versions)
		switch source.Versions += len(versions); {
		case history.KindOf(c.Path) == history.Backup:
			lone = append(lone, versions...)
		case f.knows(&c, path, versions):
			f.add(versions)
		}
	}

	f.add(lone)
	f.sources = append(f.sources, source)
	return nil
}

// see notes versions of chats that may be told message by message.
func (f *finder) see(versions []*lostVersion) {
	if f.opt.byMessage() {
		f.seen = append(f.seen, versions...)
	}
}

// add adds versions of the history of which there is something to report. Of those by which a chat
// that is there has lost few messages, one is enough.
func (f *finder) add(versions []*lostVersion) {
	var few *lostVersion
	for _, v := range versions {
		f.count(v)
		switch {
		case v.skip:
		case v.lost > 0 && v.lost < f.opt.least() && !v.weak:
			if few == nil || v.lost > few.lost {
				few = v
			}
		default:
			f.versions = append(f.versions, v)
		}
	}

	if few != nil {
		f.versions = append(f.versions, few)
	}
}

// read reads the versions of a chat in the history, the newest first.
func (f *finder) read(ctx context.Context, r *lost.StoreReader, c *history.Chat, path string) (list []*lostVersion, err error) {
	versions, err := r.Store.Versions(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	damaged := 0
	for i, v := range slices.Backward(versions) {
		if v.At.Before(f.opt.Since) {
			continue
		}
		old := &lostVersion{stored: &versions[i], at: v.At, of: c.ID, chat: path}
		if history.KindOf(c.Path) == history.Backup {
			old.of, old.chat = 0, ""
			old.key, _, _ = backups.Parse(filepath.Base(v.Path), time.Local)
		}
		if old.said, err = r.Version(ctx, &v); err == nil && v.Changed {
			err = history.ErrBroken // it may be another chat's
		}
		if errors.Is(err, history.ErrBroken) {
			if damaged++; damaged == 1 { // that of the others is likely the same
				f.errs = append(f.errs, fmt.Errorf("%s, version %d: %w", path, v.Rev, err))
			}
			continue
		} else if err != nil {
			return nil, fmt.Errorf("%s, version %d: %w", path, v.Rev, err)
		}

		list = append(list, old)
	}
	return list, nil
}

// knows notes where a chat of the history is, and what it said. It is false for one that is to
// be left alone: it was deleted on purpose, or is where it was not looked for.
func (f *finder) knows(c *history.Chat, path string, versions []*lostVersion) bool {
	at, ok := f.byPath[userdir.RealPath(path)]
	isLive := f.now.paths[c.ID] != ""
	if isLive && !ok || !isLive && (len(versions) == 0 || f.deleted(path, versions[0])) {
		return false
	}
	if !isLive {
		at = len(f.chats)
		f.chats = append(f.chats, goneChat(c, path, versions))
	}
	chat, longest := f.chats[at], new(lost.Version)
	for _, v := range versions {
		if slug := v.said.Slug; slug != "" && !chat.has(slug) {
			chat.slugs = append(chat.slugs, slug)
		}
		if len(v.said.Texts) > len(longest.Texts) {
			longest = v.said
		}
	}

	if !isLive || longest.Missing > 0 {
		chat.also = longest.Said()
	}
	f.byID[c.ID] = at
	f.owned(chat, c.ID)
	return true
}

// goneChat returns a chat of the history that is gone, with what it was last: the greetings that
// were written over a chat are not taken for that.
func goneChat(c *history.Chat, path string, versions []*lostVersion) *lostChat {
	newest := versions[0].said
	chat := &lostChat{
		path: path, fate: isGone, of: ownerOf(path), last: versions[0],
		said: &lost.Version{Slug: c.Slug, Parent: c.Main, Messages: newest.Messages, Texts: newest.Said(), Begins: newest.Begins},
	}
	says := func(v *lostVersion) bool { return !v.said.Greets(chat.of.Kind == userdir.Group) }
	if i := slices.IndexFunc(versions, says); i >= 0 {
		chat.last = versions[i]
	}
	chat.last.kept = true
	return chat
}

// owned notes a chat's owners, those that it had by the history, and its parent.
func (f *finder) owned(c *lostChat, id int64, owners ...backups.Owner) {
	for _, p := range f.now.places {
		if p.Chat == id {
			owners = append(owners, ownerOf(f.now.full(p.Path)))
		}
	}
	if c.said.Parent != "" {
		c.parent = userdir.RealPath(filepath.Join(filepath.Dir(c.path), c.said.Parent+names.Extension))
	}
	for _, of := range owners {
		c.owners, c.keys = append(c.owners, of), append(c.keys, backups.Keys(of.Name)...)
	}
}

// deleted reports whether a chat that is gone was deleted on purpose: undo keeps its file, or
// one with all that it said last.
func (f *finder) deleted(path string, last *lostVersion) bool {
	return slices.ContainsFunc(f.chats, func(c *lostChat) bool {
		d := deletion{c.path, c.said}
		return c.fate == wasDeleted && d.is(path, last.said)
	})
}

// loose reports whether a chat of a history of loose chats is to be judged with this folder: it
// is, or was, in it; or it is gone with its folder, and was not judged with another.
func (f *finder) loose(c *history.Chat, path string) bool {
	folder := userdir.RealPath(filepath.Dir(path))
	if folder == userdir.RealPath(f.root.Path) {
		return true
	}
	if f.opt.meant[folder] != nil || f.now.paths[c.ID] != "" || f.opt.told[c.ID] || !f.means(path) {
		return false
	}
	f.opt.told[c.ID] = true
	return true
}

// means reports whether the chat at a path, "" for one of which nothing is known, was asked for.
func (f *finder) means(path string) bool {
	meant := f.opt.meant[userdir.RealPath(f.root.Path)]
	if path == "" {
		return meant.Whole
	}
	real := userdir.RealPath(path)
	in := func(folder string) bool { return strings.HasPrefix(real, folder) }
	return meant.Means(path) || slices.ContainsFunc(f.opt.folders, in) || f.isNamed(real)
}

// isNamed reports whether the chat at a real path was asked for by its name.
func (f *finder) isNamed(real string) bool {
	return f.opt.files[real] || slices.ContainsFunc(f.opt.Names, func(name string) bool {
		return slices.Contains(f.named[name], real)
	})
}

// hasName reports whether any chat, or any version of one, has or had a name, or is given it here.
func (f *finder) hasName(name string) bool {
	paths := f.named[name]
	is := func(path string) bool { return path != "" && slices.Contains(paths, userdir.RealPath(path)) }
	return slices.ContainsFunc(f.found, func(g *loss) bool { return is(g.path) }) ||
		slices.ContainsFunc(f.chats, func(c *lostChat) bool { return is(c.path) }) ||
		slices.ContainsFunc(f.versions, func(v *lostVersion) bool { return is(v.chat) }) ||
		slices.ContainsFunc(f.now.places, func(p history.Place) bool { return is(f.now.full(p.Path)) })
}
