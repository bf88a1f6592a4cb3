package look

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/ops"
)

// oldVersion is a version that has hits.
type oldVersion struct {
	store *history.Store
	path  string
	owner string
	history.Version
}

// scanStores searches the versions that histories have, each line once.
func (s *searcher) scanStores(ctx context.Context) error {
	for _, st := range s.stores {
		o := &oldReader{s: s, st: st, r: newSearchReader(s), long: map[string]bool{}}
		if err := o.chats(ctx); err != nil && ctx.Err() == nil {
			s.errs = append(s.errs, ops.PathError(err))
		}
	}
	return ctx.Err()
}

// oldReader searches a history.
type oldReader struct {
	s    *searcher
	st   *searchStore
	r    *searchReader
	seen []bool          // pieces that were searched
	long map[string]bool // likewise, lines that are stored in parts
}

func (o *oldReader) chats(ctx context.Context) error {
	chats, err := o.st.store.Chats(ctx)
	if err != nil {
		return err
	}
	for _, c := range chats {
		path := filepath.Join(o.st.root.Path, filepath.FromSlash(c.Path()))
		if !c.Kind.IsChat() || !o.st.root.Means(path) {
			continue
		}
		versions, err := o.st.store.Versions(ctx, c.ID)
		if err != nil {
			return err
		}
		for _, v := range slices.Backward(versions) { // the newest that has a line is shown
			old := oldVersion{store: o.st.store, path: path, Version: v}
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
	for line, err := range o.st.store.Lines(ctx, fresh) {
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
				o.s.old = append(o.s.old, old)
			}
			h.chat, h.index, h.off = int32(-len(o.s.old)), 0, line.Piece
			o.s.hits = append(o.s.hits, h)
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
