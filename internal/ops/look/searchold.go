package look

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"stchat/internal/history"
	"stchat/internal/jsonl"
)

// oldVersion is a version that is searched.
type oldVersion struct {
	store *searchStore
	path  string
	owner string
	history.Version
}

// oldReader searches a history.
type oldReader struct {
	s    *searcher
	st   *searchStore
	r    *searchReader
	seen []bool          // by piece: it was searched
	long map[string]bool // likewise for lines stored in parts
}

// chats searches all versions of each chat, the newest first: of the versions that have a line,
// it is the one shown.
func (o *oldReader) chats(ctx context.Context) error {
	chats, err := o.st.store.Chats(ctx)
	if err != nil {
		return err
	}
	byChat := map[int64][]history.Version{}
	for _, v := range o.st.versions {
		byChat[v.Chat] = append(byChat[v.Chat], v)
	}
	for _, c := range chats {
		path := filepath.Join(o.st.root.Path, filepath.FromSlash(c.Path()))
		if !c.Kind.IsChat() || !o.st.root.Means(path) {
			continue
		}
		owner := ""
		if c.Kind == history.Solo {
			owner = filepath.Base(filepath.FromSlash(c.Owner))
		}
		versions := byChat[c.ID]
		slices.SortFunc(versions, func(a, b history.Version) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Rev, a.Rev)) })
		for _, v := range versions {
			old := &oldVersion{store: o.st, path: path, owner: owner, Version: v}
			o.s.old = append(o.s.old, old)
			if err := o.version(ctx, old); err != nil {
				return fmt.Errorf("%s, version %d: %w", path, v.Rev, err)
			}
		}
	}
	return nil
}

// version searches the lines of a version, the last in the searcher's list, that were not
// searched yet and are not in the index.
func (o *oldReader) version(ctx context.Context, old *oldVersion) error {
	runs, err := old.Runs()
	if err != nil {
		return err
	}
	var fresh []history.Run
	for i := 0; i < len(runs); i++ {
		if r := runs[i]; r.Part == history.Whole {
			if o.s.index == nil {
				fresh = append(fresh, o.unseen(r)...)
			}
			continue
		}
		from := i // a line in parts
		for runs[i].Part == history.More && i+1 < len(runs) {
			i++
		}
		if key := fmt.Sprint(runs[from : i+1]); !o.long[key] {
			o.long[key] = true
			fresh = append(fresh, runs[from:i+1]...)
		}
	}
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
			h.chat, h.index, h.off = int32(-len(o.s.old)), 0, line.Piece
			o.s.hits = append(o.s.hits, h)
		}
	}
	return ctx.Err()
}

// unseen returns the pieces of a run that were not searched yet, and marks them as searched.
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

// onlyOld finds the texts of a search with --gone that the index has: it reads the lines of
// old versions that no chat at rest has. Most of a history is still in chats, so this takes
// less than to look up where each text with a common word stands. all is false if it does
// not, or if a line cannot be read, and texts are then to be taken from the index.
func (s *searcher) onlyOld(ctx context.Context, places []lineSpan) (texts []uint64, all bool) {
	if !s.Gone {
		return nil, false
	}
	var present, old []history.Run
	for _, p := range places {
		if p.chat < 0 {
			old = append(old, p.Run)
		} else {
			present = append(present, p.Run)
		}
	}
	old = history.Without(old, present)
	lines := int64(0)
	for _, r := range old {
		lines += r.Count
	}
	if lines > int64(s.matches.Texts) {
		return nil, false
	}
	r := newSearchReader(s)
	for line, err := range s.stores[0].store.Lines(ctx, old) {
		if err != nil {
			return nil, false
		}
		r.own.reset()
		if _, err := r.buf.Each(jsonl.Bytes(line.Data), jsonl.MapOptions{Limit: -1, Keys: r.keys}, func(l *jsonl.Line) { r.own.line(l, r) }); err != nil {
			return nil, false
		}
		for _, h := range r.own.hits {
			texts = append(texts, h.text)
		}
		texts = append(texts, r.own.presentTexts...)
	}
	return texts, true
}
