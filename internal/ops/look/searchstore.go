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
	"stchat/internal/words"
)

// ErrNoHistory says that what is gone was asked for where no history is kept.
var ErrNoHistory = errors.New("no history is kept here, so nothing is known of what is gone")

// searchStore is the history of a user's folder.
type searchStore struct {
	store *history.Store
	root  *ops.Root

	indexed bool            // may says which lines may be hits: no others need be read
	may     wordindex.Lines // sorted
}

// index asks the word index, where there is one, which lines may be hits. Without it all
// are read, with the same answers.
func (st *searchStore) index(ctx context.Context, query *words.Query) error {
	x, err := wordindex.Open(ctx, st.store)
	if err != nil {
		return ctx.Err()
	}
	st.may, err = x.Find(ctx, query)
	_ = x.Close() // what it has noted is noted
	st.indexed = err == nil
	return ctx.Err()
}

// spared returns the numbers of the chats that stand as the last snapshot found them, and
// have no line that may be a hit: they need not be read.
func (st *searchStore) spared(ctx context.Context, chats []ops.Target) (spared []int, err error) {
	seen, err := st.store.Seen(ctx)
	if err != nil {
		return nil, err
	}
	all, err := st.store.VersionsSince(ctx, 0)
	if err != nil {
		return nil, err
	}
	versions := make(map[int64]*history.Version, len(all))
	for i := range all {
		versions[all[i].ID] = &all[i]
	}
	for i, t := range chats {
		rel, err := filepath.Rel(userdir.RealPath(st.root.Path), userdir.RealPath(t.Path))
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
		if v := versions[f.Version]; v != nil && !st.mayHit(v) {
			spared = append(spared, i)
		}
	}
	return spared, ctx.Err()
}

// mayHit reports whether some line of a version may be a hit.
func (st *searchStore) mayHit(v *history.Version) bool {
	runs, err := v.Runs()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(runs, func(r history.Run) bool {
		return r.Part != history.Whole || len(st.may.In(r)) > 0
	})
}

// open opens the histories of the folders in which the chats lie. What no present chat has
// is judged by all chats of such a folder: so the others are read too.
func (s *searcher) open(ctx context.Context, walked ops.Walked) error {
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
	asked := map[string]bool{}
	for _, t := range s.chats {
		asked[userdir.RealPath(t.Path)] = true
	}
	for _, st := range s.stores {
		rest := ops.Walk(ops.List{Paths: []string{st.root.Path}, AllowEmpty: true})
		for _, t := range rest.Chats {
			if !asked[userdir.RealPath(t.Path)] {
				s.chats = append(s.chats, t)
			}
		}
	}
	if s.NoIndex || s.Rank { // to rank, all texts must be counted
		return ctx.Err()
	}
	for _, st := range s.stores {
		err := st.index(ctx, s.Query)
		if err == nil && st.indexed {
			var spared []int
			spared, err = st.spared(ctx, s.chats)
			for _, i := range spared {
				s.spared[i] = true
			}
		}
		if err != nil {
			s.errs = append(s.errs, ops.PathError(err))
		}
	}
	return ctx.Err()
}

func (s *searcher) close() {
	for _, st := range s.stores {
		_ = st.store.Close() // only read from
	}
}
