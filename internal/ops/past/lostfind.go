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

// finder looks for what is lost in one root.
type finder struct {
	stock
	opt  LostOptions
	seed maphash.Seed

	byPath  map[string]int // of chats that are live
	byOwner map[backups.Owner][]int
	slugs   []string // of chats
}

// lostChat is a live chat, or one that was deleted on purpose.
type lostChat struct {
	path    string
	read    string // the file that is read: another one where it was deleted
	deleted bool
	changed time.Time
	of      backups.Owner // without the group's name
	said    *lost.Version
}

// lostVersion is an older version of some chat.
type lostVersion struct {
	path string // empty: it is in the history
	rev  int    // there
	at   time.Time
	key  string // of a backup
	chat string // the path of the chat that it is of, where that is known
	said *lost.Version

	match
	lost, reworded int
	skip           bool // nothing to be told of
}

// match is which chat a version is of.
type match struct {
	target    int  // of the finder's chats; below 0: it is gone
	weak      bool // it is not much of a proof: the chat has little else than what begins many chats
	ambiguous bool // another chat is as likely
}

func newFinder(root *ops.Root, opt LostOptions) *finder {
	return &finder{stock: stock{root: root}, opt: opt, seed: maphash.MakeSeed(), byPath: map[string]int{}, byOwner: map[backups.Owner][]int{}}
}

// find reads all that there is and compares it. The error is that ctx ended.
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
			c.said = new(lost.Version) // it cannot be read, which is told
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
			f.judge(v)
		}
		return read != nil, err
	}
	if err := f.each(ctx, len(f.versions), live, readVersion); err != nil {
		return err
	}
	return f.readStore(ctx, live)
}

// each calls read for 0 to n-1: of small files several at once, of large ones one after
// another, each by all processors. What is not there any more is passed over.
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

// judge finds which chat a version is of, and counts what is lost of it. It may run for
// several versions at once.
func (f *finder) judge(v *lostVersion) {
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

// assign finds the chat that a version is of.
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
		m = match{target: -1} // that it is another chat takes more
	}
	if m.target >= 0 && !m.weak || !known {
		return m
	}
	// moved to another owner: its slug tells
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

// candidates returns the chats that a version may be of, by its key or its place; known
// says that these tell an owner, else it may be of any.
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
		slices.Sort(list) // live ones first
		return slices.Compact(list), true
	}
	for i := range f.chats {
		list = append(list, i)
	}
	return list, false
}

// choose picks one of the candidates. Where no slug tells, it must share half of the
// version's messages; or half of its own, which is weak: a chat that was written over by
// the greeting has nothing else, and all chats of a character begin with that.
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
			scores[i]++ // of those that share as much, one that was written since is more likely
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

// readStore judges the versions that the root's history has. What is wrong with it is told,
// and the rest of the search goes on. The error is that ctx ended.
func (f *finder) readStore(ctx context.Context, live *lost.Set) error {
	s, err := history.OpenRead(ctx, f.opt.Store(f.root.Path))
	if err == nil {
		defer s.Close()
		r := &storeReader{s: s, r: lost.NewReader(f.seed, live), long: map[string]lost.Text{}}
		err = f.readChats(ctx, r)
	}
	if err != nil && !errors.Is(err, history.ErrNoStore) && ctx.Err() == nil {
		f.errs = append(f.errs, ops.PathError(err))
	}
	return ctx.Err()
}

func (f *finder) readChats(ctx context.Context, r *storeReader) error {
	chats, err := r.s.Chats(ctx)
	if err != nil {
		return err
	}
	deleted := map[string]bool{}
	for _, c := range f.chats {
		deleted[userdir.RealPath(c.path)] = c.deleted // of a name that is taken again, the last one counts
	}
	for path := range f.byPath {
		deleted[path] = false
	}
	for _, c := range chats {
		path := filepath.Join(f.root.Path, filepath.FromSlash(c.Path()))
		if !c.Kind.IsChat() || deleted[userdir.RealPath(path)] {
			continue
		}
		versions, err := r.s.Versions(ctx, c.ID)
		if err != nil {
			return err
		}
		for _, v := range slices.Backward(versions) {
			if v.At.Before(f.opt.Since) {
				continue
			}
			old := &lostVersion{rev: int(v.Rev), at: v.At, chat: path}
			if c.Kind == history.Backup {
				old.chat, old.key = "", strings.TrimPrefix(c.Name, backupPrefix)
			}
			if old.said, err = r.version(ctx, &v); err != nil {
				return fmt.Errorf("%s, version %d: %w", path, v.Rev, err)
			}
			old.said.Slug = c.Slug
			if f.judge(old); !old.skip {
				f.versions = append(f.versions, old)
			}
		}
	}
	return nil
}
