package look

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"stchat/internal/history"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
	"stchat/internal/wordindex"
)

// scope is where a search looks: chats, and the histories of their folders.
type scope struct {
	lib            *library.Library
	chats          []ops.Target // those after the first asked are only read to know which texts they hold
	asked          int
	unchangedChats map[int]*history.Version // chats that need not be read: they equal this version
	folders        map[string]string        // real paths, by folder
	id             string                   // of the history; part of the hash of a text

	stores []*searchStore
	old    []*oldVersion

	index   *wordindex.Index   // of the history, if there is just one; nil: all lines are read
	matches *wordindex.Matches // what the index has for the query
	damaged bool               // the index is
}

// before compares hits for sorting: the newest first and those without a date last; then by
// path, present chats before old versions, and by place.
func (g *scope) before(a, b hit) int {
	return cmp.Or(compareBools(!a.dated, !b.dated), cmp.Compare(b.date, a.date), strings.Compare(filepath.ToSlash(g.pathOf(a)), filepath.ToSlash(g.pathOf(b))),
		compareBools(a.chat < 0, b.chat < 0), g.byLine(a, b), cmp.Compare(b.chat, a.chat), cmp.Compare(a.off, b.off), cmp.Compare(a.swipe, b.swipe))
}

// byLine compares the lines of two hits in chats, or in old versions.
func (g *scope) byLine(a, b hit) int {
	if a.chat < 0 && b.chat < 0 && (a.chat != b.chat || a.off != b.off) {
		return cmp.Compare(g.old[-1-a.chat].line(a.off), g.old[-1-b.chat].line(b.off))
	}
	return cmp.Compare(a.index, b.index)
}

func (g *scope) pathOf(h hit) string {
	if h.chat < 0 {
		return g.old[-1-h.chat].path
	}
	return g.chats[h.chat].Path
}

// ask queries the word index, which covers a single history. If it cannot be used, all lines
// are read, with the same result. The error is that ctx ended, or a
// [*wordindex.TooManyError].
func (g *scope) ask(ctx context.Context, opt *SearchOptions) error {
	if opt.NoIndex || len(g.stores) != 1 {
		return nil
	}
	st := g.stores[0]
	x, err := wordindex.Open(ctx, st.store)
	if err != nil {
		return g.unusable(ctx, err)
	}
	m, err := x.Find(ctx, &opt.Want)
	if err == nil {
		if g.unchangedChats, err = g.unchangedSince(ctx, st); err == nil {
			g.index, g.matches = x, m
			return ctx.Err()
		}
		_ = m.Close()
	}
	_ = x.Close() // what it has stored so far is kept
	if _, tooMany := errors.AsType[*wordindex.TooManyError](err); tooMany {
		return err
	}
	return g.unusable(ctx, err)
}

// unusable returns the error of an index that is damaged; others are passed over.
func (g *scope) unusable(ctx context.Context, err error) error {
	if ctx.Err() == nil && wordindex.Damaged(err) {
		return err
	}
	return ctx.Err()
}

// unchangedSince finds the chats that are unchanged since the last snapshot: they need not be read.
func (g *scope) unchangedSince(ctx context.Context, st *searchStore) (map[int]*history.Version, error) {
	seen, err := st.store.Seen(ctx)
	if err != nil {
		return nil, err
	}
	versions := make(map[int64]*history.Version, len(st.versions))
	for i := range st.versions {
		versions[st.versions[i].Rev] = &st.versions[i]
	}
	rest := map[int]*history.Version{}
	root := userdir.RealPath(st.root.Path)
	for i, t := range g.chats {
		rel, err := filepath.Rel(root, g.real(t))
		if err != nil {
			continue
		}
		f, ok := seen[filepath.ToSlash(rel)]
		if !ok || f.Racy {
			continue
		}
		stamp, err := safefile.StampPath(t.Path)
		if err != nil || !stamp.Regular() || stamp.Size() != f.Size || stamp.ModTime().UnixNano() != f.Mtime || stamp.ChangeTime() != f.Ctime {
			continue
		}
		if v := versions[f.Rev]; v != nil && inIndex(v) {
			rest[i] = v
		}
	}
	return rest, ctx.Err()
}

// places lists where the indexed lines are: first in the chats at rest, then in old versions,
// the newest of each chat first.
func (g *scope) places() (list []lineSpan, err error) {
	add := func(v *history.Version, chat int) error {
		runs, err := v.Runs()
		line := int64(0)
		for _, r := range runs {
			if r.Part == history.Whole {
				list = append(list, lineSpan{r, line, int32(chat)})
			}
			line += r.Count
		}
		return err
	}
	for i := range g.chats {
		if v := g.unchangedChats[i]; v != nil {
			if err := add(v, i); err != nil {
				return nil, err
			}
		}
	}
	for i, old := range g.old {
		if err := add(&old.Version, -1-i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// hash returns the hash that identifies a text.
func (g *scope) hash(text []byte) uint64 { return wordindex.Hash(g.id, text) }

// open opens the histories of the chats' folders. Whether a text is gone depends on all
// chats of such a folder, so the others are added, too. errs are of histories that cannot
// be opened.
func (g *scope) open(ctx context.Context, opt *SearchOptions, walked ops.Walked) (errs []error, err error) {
	for _, root := range ops.Roots(walked, opt.List.Shard) {
		if !root.User {
			continue
		}
		store, err := history.OpenRead(ctx, opt.Store(root.Path))
		switch {
		case err == nil:
			g.stores = append(g.stores, &searchStore{store: store, root: root})
		case !errors.Is(err, history.ErrNoStore):
			errs = append(errs, ops.PathError(err))
		}
	}
	if opt.Gone && len(g.stores)+len(errs) == 0 {
		return nil, ErrNoHistory
	}
	asked := map[string]bool{}
	for _, t := range g.chats {
		asked[g.real(t)] = true
	}
	for _, st := range g.stores {
		if st.root.Whole && opt.List.Shard.Whole() {
			continue
		}
		rest := ops.Walk(ops.List{Paths: []string{st.root.Path}, AllowEmpty: true})
		for _, t := range rest.Chats {
			if !asked[g.real(t)] {
				g.chats = append(g.chats, t)
			}
		}
	}
	for _, st := range g.stores {
		if g.id, err = st.store.ID(ctx); err != nil {
			return errs, err
		}
		if st.versions, err = st.store.VersionsSince(ctx, 0); err != nil {
			return errs, err
		}
	}
	return errs, g.ask(ctx, opt)
}

func (g *scope) close() {
	if g.index != nil {
		_ = g.matches.Close() // only read from
		_ = g.index.Close()
	}
	if g.damaged {
		_ = wordindex.Remove(g.stores[0].store.Path()) // else the next search finds it damaged, too
	}
	for _, st := range g.stores {
		_ = st.store.Close() // only read from
	}
}

// real returns the path of a chat without links. Each folder is resolved once.
func (g *scope) real(t ops.Target) string {
	if t.From == "" { // it may be a link: it was not listed as a regular file
		return userdir.RealPath(t.Path)
	}
	dir, file := filepath.Split(t.Path)
	folder, ok := g.folders[dir]
	if !ok {
		folder = userdir.RealPath(dir)
		g.folders[dir] = folder
	}
	return filepath.Join(folder, file)
}

func newScope(chats []ops.Target) scope {
	return scope{lib: new(library.Library), chats: chats, asked: len(chats), folders: map[string]string{}}
}

// lineSpan is a run of lines in a chat at rest, or in an old version.
type lineSpan struct {
	history.Run
	line int64 // the number of the first
	chat int32 // as in [hit]
}
