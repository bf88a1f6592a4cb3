package past

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/backups"
	"stchat/internal/history"
	"stchat/internal/lost"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/userdir"
)

// finder finds what is lost in one root.
type finder struct {
	files
	opt  LostOptions
	seed maphash.Seed

	byPath  map[string]int // indexes of the live chats
	byOwner map[backups.Owner][]int
	slugs   []string // by index of the chat
}

// lostChat is a live chat, or one that was deleted on purpose.
type lostChat struct {
	path    string
	read    string // the file that is read: the one undo keeps if the chat was deleted
	deleted bool
	changed time.Time
	of      backups.Owner // without the group's name
	said    *lost.Version
}

// lostVersion is an older version of some chat.
type lostVersion struct {
	path string // empty if it is in the history
	rev  int    // its number in the history
	at   time.Time
	key  string // of a backup, under which SillyTavern keeps it
	chat string // the path of its chat; empty if not known
	said *lost.Version

	match
	lost, reworded int
	skip           bool // there is nothing to report
}

// match says which chat a version belongs to.
type match struct {
	target    int  // index in the finder's chats; below 0: the chat is gone
	weak      bool // poor evidence: the chat has little more than a beginning that many chats share
	ambiguous bool // another chat is equally likely
}

func newFinder(root *ops.Root, opt LostOptions) *finder {
	return &finder{files: files{root: root}, opt: opt, seed: maphash.MakeSeed(), byPath: map[string]int{}, byOwner: map[backups.Owner][]int{}}
}

// find reads the chats and all older versions, and compares them. The error is that ctx
// ended.
func (f *finder) find(ctx context.Context, copies []ops.Target) error {
	f.list(copies, f.opt.Since)
	f.opt.Meter.Expect(len(f.chats)+len(f.versions), 0)
	readChat := func(r *lost.Reader, i int, small bool) (bool, error) {
		v, err := r.Read(ctx, f.chats[i].read, small)
		f.chats[i].said = v
		return v != nil, err
	}
	if err := f.each(ctx, len(f.chats), nil, readChat); err != nil {
		return err
	}
	var texts [][]lost.Text
	for i, c := range f.chats {
		if c.said == nil {
			c.said = new(lost.Version) // it could not be read, which is in errs
		}
		f.slugs = append(f.slugs, c.said.Slug)
		f.byOwner[c.of] = append(f.byOwner[c.of], i)
		if !c.deleted {
			f.byPath[userdir.RealPath(c.path)] = i
			texts = append(texts, c.said.Texts)
		}
	}
	live := lost.NewSet(texts...)
	readVersion := func(r *lost.Reader, i int, small bool) (bool, error) {
		v := f.versions[i]
		read, err := r.Read(ctx, v.path, small)
		if v.said = read; read != nil {
			f.count(v)
		}
		return read != nil, err
	}
	if err := f.each(ctx, len(f.versions), live, readVersion); err != nil {
		return err
	}
	return f.readStore(ctx, live)
}

// each calls read for 0 to n-1: several small files at once, large ones one at a time on all
// processors. Files that no longer exist are skipped.
func (f *finder) each(ctx context.Context, n int, live *lost.Set, read func(r *lost.Reader, i int, small bool) (bool, error)) error {
	errs := make([]error, n)
	newReader := func() *lost.Reader { return lost.NewReader(f.seed, live) }
	progress.SmallFirst(ctx, n, f.opt.Meter, newReader, func(r *lost.Reader, i int, small bool) bool {
		done, err := read(r, i, small)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs[i] = ops.PathError(err)
		}
		return done || err != nil
	})
	for _, err := range errs {
		if err != nil {
			f.errs = append(f.errs, err)
		}
	}
	return ctx.Err()
}

// count finds which chat a version belongs to, and counts what that chat lost. It may run
// for several versions at once.
func (f *finder) count(v *lostVersion) {
	m := match{target: -1}
	if v.said.Missing > 0 {
		m = f.assign(v)
	}
	v.match = m
	if m.target >= 0 && !f.chats[m.target].deleted && (v.said.Missing >= f.opt.Min || m.weak) {
		v.lost, v.reworded = lost.NewLive(f.chats[m.target].said.Texts).Compare(v.said.Texts)
	}
	switch {
	case v.said.Missing == 0:
		v.skip = true
	case m.target < 0 || m.weak:
		v.skip = v.said.Missing < f.opt.Gone && v.lost < f.opt.Min
	default:
		v.skip = v.lost < f.opt.Min
	}
	if v.skip {
		v.said.Texts = nil
	}
}

// assign returns the chat that a version belongs to.
func (f *finder) assign(v *lostVersion) match {
	texts := lost.NewSet(v.said.Texts)
	if i, ok := f.byPath[userdir.RealPath(v.chat)]; ok && v.chat != "" {
		if c := f.chats[i]; c.said.Slug == v.said.Slug || texts.Shared(c.said.Texts) > 0 {
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
	// moved to another owner: known by its slug
	var same []int
	for i, slug := range f.slugs {
		if slug != "" && slug == v.said.Slug {
			same = append(same, i)
		}
	}
	if moved := f.choose(v, texts, same); moved.target >= 0 {
		return moved
	}
	return m
}

// candidates returns the chats that a version may belong to, by its key or its path. known
// is false if these do not lead to an owner with chats: then it may be any chat.
func (f *finder) candidates(v *lostVersion) (list []int, known bool) {
	owners := f.owners[v.key]
	if v.chat != "" {
		owners = []backups.Owner{ownerOf(v.chat)}
	} else if v.key == "" {
		owners = nil
	}
	for _, o := range owners {
		o.Group = ""
		list = append(list, f.byOwner[o]...)
	}
	if len(list) > 0 {
		slices.Sort(list) // live chats first
		return slices.Compact(list), true
	}
	for i := range f.chats {
		list = append(list, i)
	}
	return list, false
}

// choose picks one of the candidates. If the slugs do not decide, it must share half of the
// version's messages, or half of its own. The latter is weak: a chat that was overwritten by
// the greeting has nothing else, and all chats of a character begin with it.
func (f *finder) choose(v *lostVersion, texts *lost.Set, candidates []int) match {
	slugs := make([]string, len(candidates))
	scores := make([]int, len(candidates))
	for i, at := range candidates {
		slugs[i] = f.slugs[at]
	}
	best := backups.Belongs(v.said.Slug, slugs, func(i int) int {
		c := f.chats[candidates[i]]
		if v.path != "" && v.said.Slug != "" && c.said.Parent != "" && c.said.Parent != v.said.Parent {
			return 0 // a branch names its parent from its first save on, so this was never the branch
		}
		n := texts.Shared(c.said.Texts)
		if 2*n < len(v.said.Texts) && (2*n < c.said.Messages || c.deleted) {
			return 0
		}
		if scores[i] = 2 * n; n > 0 && c.changed.After(v.at) {
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

// readStore judges the versions in the root's history. A problem with the history is added
// to errs, and the search goes on. The error is that ctx ended.
func (f *finder) readStore(ctx context.Context, live *lost.Set) error {
	s, err := history.OpenRead(ctx, f.opt.Store(f.root.Path))
	if err == nil {
		defer s.Close()
		err = f.readChats(ctx, lost.NewStoreReader(s, lost.NewReader(f.seed, live)))
	}
	if err != nil && !errors.Is(err, history.ErrNoStore) && ctx.Err() == nil {
		f.errs = append(f.errs, ops.PathError(err))
	}
	return ctx.Err()
}

func (f *finder) readChats(ctx context.Context, r *lost.StoreReader) error {
	chats, err := r.Store.Chats(ctx)
	if err != nil {
		return err
	}
	deleted := map[string]bool{}
	for _, c := range f.chats {
		deleted[userdir.RealPath(c.path)] = c.deleted // if several had this name, the last one counts
	}
	for path := range f.byPath {
		deleted[path] = false
	}
	for _, c := range chats {
		path := filepath.Join(f.root.Path, filepath.FromSlash(c.Path))
		if !history.KindOf(c.Path).IsChat() || deleted[userdir.RealPath(path)] {
			continue
		}
		versions, err := r.Store.Versions(ctx, c.ID)
		if err != nil {
			return err
		}
		damaged := 0
		for _, v := range slices.Backward(versions) {
			if v.At.Before(f.opt.Since) {
				continue
			}
			old := &lostVersion{rev: int(v.Rev), at: v.At, chat: path}
			if history.KindOf(c.Path) == history.Backup {
				old.chat, old.key = "", strings.TrimPrefix(c.Path, backupPrefix)
			}
			old.said, err = r.Version(ctx, &v)
			if errors.Is(err, history.ErrBroken) {
				if damaged++; damaged == 1 { // that of the others is likely the same
					f.errs = append(f.errs, fmt.Errorf("%s, version %d: %w", path, v.Rev, err))
				}
				continue
			} else if err != nil {
				return fmt.Errorf("%s, version %d: %w", path, v.Rev, err)
			}
			old.said.Slug = c.Slug
			if f.count(old); !old.skip {
				f.versions = append(f.versions, old)
			}
		}
	}
	return nil
}
