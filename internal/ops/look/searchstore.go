package look

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
	"stchat/internal/wordindex"
)

// ErrNoHistory says that what is gone was asked for where no history is kept.
var ErrNoHistory = errors.New("no history is kept here, so nothing is known of what is gone")

// searchStore is the history of a user's folder.
type searchStore struct {
	*history.Store
	root  string
	whole bool     // all of it was asked for
	below []string // else the real paths of the chats, and of the folders, that were

	indexed bool            // may says which lines may be hits: no others need be read
	may     wordindex.Lines // sorted
}

// index asks the word index, where there is one, which lines may be hits. Without it all
// are read, with the same answers.
func (s *searcher) index(ctx context.Context, st *searchStore) error {
	if s.NoIndex || s.Rank { // to rank, all texts must be counted
		return nil
	}
	x, err := wordindex.Open(ctx, st.Store)
	if err == nil {
		st.may, err = x.Find(ctx, s.Query)
		_ = x.Close() // what it has noted is noted
	}
	if err == nil {
		st.indexed = true
		return s.spare(ctx, st)
	}
	return ctx.Err()
}

// spare takes from the list of chats to read those that stand as the last snapshot found
// them, and have no line that may be a hit.
func (s *searcher) spare(ctx context.Context, st *searchStore) error {
	seen, err := st.Seen(ctx)
	if err != nil {
		return err
	}
	all, err := st.VersionsSince(ctx, 0)
	if err != nil {
		return err
	}
	versions := make(map[int64]*history.Version, len(all))
	for i := range all {
		versions[all[i].ID] = &all[i]
	}
	if s.spared == nil {
		s.spared = map[int]bool{}
	}
	for i, t := range s.chats {
		rel, err := filepath.Rel(userdir.RealPath(st.root), userdir.RealPath(t.Path))
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
			s.spared[i] = true
		}
	}
	return ctx.Err()
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

// oldVersion is a version that has hits.
type oldVersion struct {
	store *searchStore
	path  string
	owner string
	history.Version
}

// open opens the histories of the folders in which the chats lie. What no present chat has
// is judged by all chats of such a folder: so the others are read too.
func (s *searcher) open(ctx context.Context, walked ops.Walked) error {
	byRoot := map[string]*searchStore{}
	at := func(root string) *searchStore {
		real := userdir.RealPath(root)
		if _, ok := byRoot[real]; !ok {
			byRoot[real] = nil
			store, err := history.OpenRead(ctx, s.Store(root))
			switch {
			case err == nil:
				byRoot[real] = &searchStore{Store: store, root: root}
				s.stores = append(s.stores, byRoot[real])
			case !errors.Is(err, history.ErrNoStore):
				s.errs = append(s.errs, ops.PathError(err))
			}
		}
		return byRoot[real]
	}
	for _, dir := range walked.Users {
		if st := at(dir.Root); st != nil {
			st.whole = true
		}
	}
	for _, t := range walked.Chats {
		dir, ok := userdir.Find(t.Path)
		if !ok {
			continue
		}
		if st := at(dir.Root); st != nil && !st.whole {
			if t.From != "" {
				st.below = append(st.below, userdir.RealPath(t.From)+string(filepath.Separator))
			} else {
				st.below = append(st.below, userdir.RealPath(t.Path))
			}
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
		slices.Sort(st.below)
		st.below = slices.Compact(st.below)
		rest := ops.Walk(ops.List{Paths: []string{st.root}, AllowEmpty: true})
		for _, t := range rest.Chats {
			if !asked[userdir.RealPath(t.Path)] {
				s.chats = append(s.chats, t)
			}
		}
	}
	for _, st := range s.stores {
		if err := s.index(ctx, st); err != nil {
			s.errs = append(s.errs, ops.PathError(err))
		}
	}
	return ctx.Err()
}

func (s *searcher) close() {
	for _, st := range s.stores {
		_ = st.Close() // only read from
	}
}

// means reports whether the chat at path was asked for.
func (st *searchStore) means(path string, shard ops.Shard) bool {
	if !shard.Has(path) {
		return false
	}
	real := userdir.RealPath(path)
	return st.whole || slices.ContainsFunc(st.below, func(below string) bool {
		return real == below || strings.HasSuffix(below, string(filepath.Separator)) && strings.HasPrefix(real, below)
	})
}

// scanStores searches the versions that histories have, each line once.
func (s *searcher) scanStores(ctx context.Context) error {
	for _, st := range s.stores {
		o := &oldReader{searcher: s, st: st, r: newSearchReader(s), long: map[string]bool{}}
		if err := o.chats(ctx); err != nil && ctx.Err() == nil {
			s.errs = append(s.errs, ops.PathError(err))
		}
	}
	return ctx.Err()
}

// oldReader searches a history.
type oldReader struct {
	*searcher
	st   *searchStore
	r    *searchReader
	seen []bool          // pieces that were searched
	long map[string]bool // likewise, lines that are stored in parts
}

func (o *oldReader) chats(ctx context.Context) error {
	chats, err := o.st.Chats(ctx)
	if err != nil {
		return err
	}
	for _, c := range chats {
		path := filepath.Join(o.st.root, filepath.FromSlash(c.Path()))
		if !c.Kind.IsChat() || !o.st.means(path, o.List.Shard) {
			continue
		}
		versions, err := o.st.Versions(ctx, c.ID)
		if err != nil {
			return err
		}
		for _, v := range slices.Backward(versions) { // the newest that has a line is shown
			old := oldVersion{store: o.st, path: path, Version: v}
			if c.Kind == history.Solo {
				old.owner = filepath.Base(filepath.FromSlash(c.Owner))
			}
			if err := o.version(ctx, old); err != nil {
				return fmt.Errorf("%s, version %d: %w", path, v.Rev, err)
			}
		}
	}
	return nil
}

// version searches the lines of a version that were not searched yet.
func (o *oldReader) version(ctx context.Context, old oldVersion) error {
	runs, err := old.Runs()
	if err != nil {
		return err
	}
	var fresh []history.Run
	for i := 0; i < len(runs); i++ {
		if runs[i].Part == history.Whole {
			for _, r := range o.mayHit(runs[i]) {
				fresh = append(fresh, o.unseen(r)...)
			}
			continue
		}
		from := i // lines in parts
		for runs[i].Part == history.More && i+1 < len(runs) {
			i++
		}
		if key := fmt.Sprint(runs[from : i+1]); !o.long[key] {
			o.long[key] = true
			fresh = append(fresh, runs[from:i+1]...)
		}
	}
	found := false
	for line, err := range o.st.Lines(ctx, fresh) {
		if err != nil {
			return err
		}
		t := &o.r.own
		t.reset()
		if _, err := o.r.buf.Each(jsonl.Bytes(line.Data), jsonl.MapOptions{Limit: -1, Keys: o.r.keys}, func(l *jsonl.Line) { t.line(l, o.r) }); err != nil {
			return err
		}
		for _, h := range t.hits {
			if !found {
				found = true
				o.old = append(o.old, old)
			}
			h.chat, h.index, h.off = int32(-len(o.old)), 0, line.Piece
			o.hits = append(o.hits, h)
		}
	}
	return ctx.Err()
}

// mayHit returns the parts of a run that may have hits.
func (o *oldReader) mayHit(run history.Run) (parts []history.Run) {
	if !o.st.indexed {
		return []history.Run{run}
	}
	for _, id := range o.st.may.In(run) {
		parts = append(parts, history.Run{First: id, Count: 1, Part: history.Whole})
	}
	return parts
}

// unseen returns the parts of a run that were not searched, and notes them.
func (o *oldReader) unseen(run history.Run) (fresh []history.Run) {
	if need := int(run.First + run.Count); need > len(o.seen) {
		o.seen = append(o.seen, make([]bool, need-len(o.seen))...)
	}
	for id := run.First; id < run.First+run.Count; id++ {
		if o.seen[id] {
			continue
		}
		o.seen[id] = true
		if n := len(fresh); n > 0 && fresh[n-1].First+fresh[n-1].Count == id {
			fresh[n-1].Count++
		} else {
			fresh = append(fresh, history.Run{First: id, Count: 1, Part: history.Whole})
		}
	}
	return fresh
}

// showOld finds a hit's line in its version, and the message's index there.
func (s *searcher) showOld(ctx context.Context, doc *SearchHit, h hit) ([]byte, error) {
	old := s.old[-1-h.chat]
	rev := int(old.Rev)
	if doc.Rev = &rev; old.owner != "" {
		doc.Owner = &old.owner
	}
	runs, err := old.Runs()
	if err != nil {
		return nil, err
	}
	var buf jsonl.Buffer
	keys := jsonl.NewKeys()
	first := true
	for line, err := range old.store.Lines(ctx, runs) {
		if err != nil {
			return nil, err
		}
		if line.Piece == h.off {
			return slices.Clone(line.Data), nil
		}
		survives := false
		if _, err := buf.Each(jsonl.Bytes(line.Data), jsonl.MapOptions{Limit: -1, Keys: keys}, func(l *jsonl.Line) { survives = l.Damage == nil }); err != nil {
			return nil, err
		}
		if survives {
			if !first || !meta.IsHeader(line.Data) {
				doc.Index++
			}
			first = false
		}
	}
	return nil, history.ErrRewritten
}
