package look

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
	"stchat/internal/wordindex"
)

// source is what is searched line by line: a chat as it is now, or an old version of one.
type source struct {
	ops.Target
	old   bool
	owner *string // the character's folder or the group's name; of a chat as it is now once it was opened

	opened bool // to show a hit

	store   *searchStore     // of the version
	version *history.Version // whose lines these are; nil: the chat itself is read
	runs    []history.Run

	judged bool
	others []int // once it is judged: the numbers of the lines that are no messages, ascending
}

// line returns the number of the line that a piece is, or is part of.
func (src *source) line(piece int64) (n int64) {
	for _, r := range src.runs {
		if piece >= r.First && piece < r.First+r.Count {
			if r.Part == history.Whole {
				n += piece - r.First
			}
			return n
		}
		n += r.Lines()
	}
	return n
}

// stored returns where the line with a number is stored.
func (src *source) stored(number int64) []history.Run {
	from := 0
	for i, r := range src.runs {
		switch n := r.Lines(); {
		case n == 0: // a part of a line, but not its last
		case number >= n:
			number, from = number-n, i+1
		case r.Part == history.Whole:
			return []history.Run{{First: r.First + number, Count: 1, Part: history.Whole}}
		default:
			return src.runs[from : i+1]
		}
	}
	return nil
}

// addChats adds chats that are not there yet.
func (s *searcher) addChats(chats []ops.Target) {
	there := map[string]bool{}
	for _, src := range s.sources {
		there[s.reals.Path(src.Path)] = true
	}
	for _, t := range chats {
		if len(there) == 0 || !there[s.reals.Path(t.Path)] {
			s.sources = append(s.sources, &source{Target: t})
		}
	}
}

// open opens the histories of the chats' folders. Whether a text is gone depends on all
// chats of such a folder, so the others are added, too.
func (s *searcher) open(ctx context.Context, walked ops.Walked) (err error) {
	for _, root := range ops.Roots(walked, s.List.Shard) {
		if !root.User {
			continue
		}
		store, err := history.OpenRead(ctx, s.Store(root.Path))
		switch {
		case err == nil:
			s.stores = append(s.stores, &searchStore{store: store, root: root})
		case !errors.Is(err, history.ErrNoStore):
			s.errs = append(s.errs, ops.PathError(err))
		}
	}
	if s.Gone && len(s.stores)+len(s.errs) == 0 {
		return ErrNoHistory
	}
	for _, st := range s.stores {
		if !st.root.Whole || !s.List.Shard.Whole() {
			s.addChats(ops.Walk(ops.List{Paths: []string{st.root.Path}, AllowEmpty: true}).Chats)
		}
	}
	for _, st := range s.stores {
		if s.id, err = st.store.ID(ctx); err != nil {
			return err
		}
		if st.versions, err = st.store.VersionsSince(ctx, 0); err != nil {
			return err
		}
	}
	if s.NoIndex || len(s.stores) != 1 {
		return nil
	}
	err = s.ask(ctx, s.stores[0])
	if _, tooMany := errors.AsType[*wordindex.TooManyError](err); tooMany || ctx.Err() == nil && wordindex.Damaged(err) {
		return err
	}
	return ctx.Err() // of an index that cannot be used no more is said: all lines are read, with the same result
}

// ask queries the word index, which covers a single history, and finds the chats that need not be
// read for that.
func (s *searcher) ask(ctx context.Context, st *searchStore) error {
	x, err := wordindex.Open(ctx, st.store)
	if err != nil {
		return err
	}
	m, err := x.Find(ctx, &s.Want)
	if err == nil {
		if err = s.findUnchanged(ctx, st); err == nil {
			s.index, s.matches = x, m
			return nil
		}
		m.Close()
	}
	_ = x.Close() // what it has stored so far is kept
	return err
}

// findUnchanged finds the chats that are unchanged since the last snapshot.
func (s *searcher) findUnchanged(ctx context.Context, st *searchStore) error {
	seen, err := st.store.Seen(ctx)
	if err != nil {
		return err
	}
	versions := make(map[int64]*history.Version, len(st.versions))
	for i := range st.versions {
		versions[st.versions[i].Rev] = &st.versions[i]
	}
	root := userdir.RealPath(st.root.Path)
	for _, src := range s.sources {
		rel, err := filepath.Rel(root, s.reals.Path(src.Path))
		if err != nil {
			continue
		}
		was := seen[filepath.ToSlash(rel)]
		v := versions[was.Rev]
		if stamp, err := safefile.StampPath(src.Path); err == nil && stamp.Regular() && v != nil && was.Is(src.Path, stamp) {
			inParts := func(r history.Run) bool { return r.Part != history.Whole } // so its line is not in the index
			if runs, err := v.Runs(); err == nil && !slices.ContainsFunc(runs, inParts) {
				src.store, src.version, src.runs = st, v, runs
			}
		}
	}
	return nil
}

func (s *searcher) close(damaged bool) {
	if s.index != nil {
		s.matches.Close()
		_ = s.index.Close()
	}
	if damaged {
		_ = wordindex.Remove(s.stores[0].store.Path()) // else the next search finds it damaged, too
	}
	for _, st := range s.stores {
		_ = st.store.Close() // only read from
	}
}

// hash returns the hash that identifies a text.
func (s *searcher) hash(text []byte) uint64 { return wordindex.Hash(s.id, text) }

// searchStore is the history of a user's folder.
type searchStore struct {
	store *history.Store
	root  *ops.Root

	versions []history.Version // of all chats, in the order of archiving
}

// line reads a line by where it is stored.
func (st *searchStore) line(ctx context.Context, stored ...history.Run) ([]byte, error) {
	for line, err := range st.store.Lines(ctx, stored) {
		return slices.Clone(line.Data), err
	}
	return nil, history.ErrRewritten
}

// message returns the line of the source's version with a number, and the index of its message.
func (src *source) message(ctx context.Context, number int) (line []byte, index int, err error) {
	read := func(n int) ([]byte, error) { return src.store.line(ctx, src.stored(int64(n))...) }
	if !src.judged {
		lines := int64(0)
		for _, r := range src.runs {
			lines += r.Lines()
		}
		src.others, err = history.Others(int(lines), src.version.Messages, read, src.store.store.Lines(ctx, src.runs))
		if src.judged = err == nil; err != nil {
			return nil, 0, err
		}
	}
	before, _ := slices.BinarySearch(src.others, number)
	line, err = read(number)
	return line, number - before, err
}
