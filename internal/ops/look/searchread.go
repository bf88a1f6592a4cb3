package look

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"stchat/internal/chat"
	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/wordindex"
	"stchat/internal/words"
)

// searchReader searches one chat after another, and reuses its memory.
type searchReader struct {
	s     *searcher
	terms []*words.Term
	keys  *jsonl.Keys
	buf   jsonl.Buffer
	own   searchTally

	seen []history.Run   // whole lines of a history that were searched
	long map[string]bool // likewise for lines stored in parts
}

func newSearchReader(s *searcher) *searchReader {
	return &searchReader{s: s, terms: s.Query.Terms(), keys: wordindex.Keys(), long: map[string]bool{}}
}

// read searches a chat. With small it does not read a large one, and done is false.
func (r *searchReader) read(ctx context.Context, source int, small bool) (done bool, err error) {
	src := r.s.sources[source]
	c, err := chat.Open(ctx, src.Path, chat.Options{Groups: r.s.lib, Regular: src.From != "", Any: true})
	if err != nil {
		return true, err
	}
	defer c.Close()
	opt := jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Limit: -1, Keys: r.keys, Progress: r.s.Meter.Follow()}
	switch {
	case !small:
		return true, jsonl.Map(ctx, c.Source, opt, r.line, func(t *searchTally, base jsonl.Base, _ jsonl.Damages) error {
			r.s.add(t, source, base.Index, 0)
			return nil
		}, (*searchTally).reset)
	case c.Source.Size > jsonl.Small:
		return false, nil
	}
	if err = r.lines(c.Source, opt); err == nil {
		r.s.add(&r.own, source, 0, 0)
	}
	return true, err
}

// lines searches a small source; r.own is what was found.
func (r *searchReader) lines(src jsonl.Source, opt jsonl.MapOptions) error {
	r.own.reset()
	opt.Limit, opt.Keys = -1, r.keys
	_, err := r.buf.Each(src, opt, func(l *jsonl.Line) { r.line(l, &r.own) })
	return err
}

// searchTally is what was found in a stretch of a chat.
type searchTally struct {
	hits   []hit
	counts map[uint64][]int32 // as the searcher's
	corpus wordindex.Corpus

	text, words []byte
}

func (t *searchTally) reset() {
	t.hits, t.counts, t.corpus = t.hits[:0], nil, wordindex.Corpus{}
}

// line searches one message.
func (r *searchReader) line(l *jsonl.Line, t *searchTally) {
	if l.Damage != nil {
		return
	}
	h := hit{at: l.Off, index: int32(l.Index)}
	looked, wanted := false, false
	for text := range wordindex.Texts(l) {
		// role, date and name first: comparing words costs more
		if !looked {
			said := wordindex.SaidIn(l)
			h.date = dateOf(said)
			wanted, looked = r.s.wants(said) && r.s.names(func() []byte { name, _ := l.Value(wordindex.KeyName); return name }), true
		}
		if shown := text.Chosen || r.s.Swipes; shown && (wanted || r.s.Rank) || len(r.s.stores) > 0 {
			r.match(text.Raw, h, shown, wanted, t)
		}
	}
}

// match looks for the query in one text. A match is a hit if the text is shown and the
// message wanted, else the text is only noted.
func (r *searchReader) match(raw []byte, h hit, shown, wanted bool, t *searchTally) {
	var ok bool
	if t.text, ok = rawjson.AppendUnquoted(t.text[:0], raw); !ok {
		return
	}
	t.words = words.Append(t.words[:0], string(t.text))
	count := 0
	if r.s.Rank && shown {
		count = words.Count(t.words)
		t.corpus.Texts++
		t.corpus.Words += int64(count)
	}
	if !r.s.Query.Match(t.words) {
		return
	}
	h.text = r.s.hash(t.text)
	if !shown || !wanted {
		h.index = notHit
	} else if r.s.Rank {
		counts := []int32{int32(count)}
		for _, term := range r.terms {
			counts = append(counts, int32(term.Count(t.words)))
		}
		if t.counts == nil {
			t.counts = map[uint64][]int32{}
		}
		t.counts[h.text] = counts
	}
	t.hits = append(t.hits, h)
}

// readVersions searches the versions in the histories, each line once.
func (s *searcher) readVersions(ctx context.Context) error {
	for _, st := range s.stores {
		if err := newSearchReader(s).history(ctx, st); err != nil && ctx.Err() == nil {
			s.errs = append(s.errs, ops.PathError(err))
		}
	}
	return ctx.Err()
}

// history searches all versions of each chat, the newest first: of the versions that have a line,
// it is the one shown.
func (r *searchReader) history(ctx context.Context, st *searchStore) error {
	chats, err := st.store.Chats(ctx)
	if err != nil {
		return err
	}
	byChat := map[int64][]*history.Version{}
	for i := range st.versions {
		v := &st.versions[i]
		byChat[v.Chat] = append(byChat[v.Chat], v)
	}
	for _, c := range chats {
		path := filepath.Join(st.root.Path, filepath.FromSlash(c.Path))
		kind := history.KindOf(c.Path)
		if !kind.IsChat() || !st.root.Means(path) {
			continue
		}
		var owner *string
		if kind == history.Solo {
			owner = new(filepath.Base(filepath.Dir(path)))
		}
		slices.SortFunc(byChat[c.ID], func(a, b *history.Version) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Rev, a.Rev)) })
		for _, v := range byChat[c.ID] {
			if err := r.version(ctx, &source{Target: ops.Target{Path: path}, owner: owner, old: true, store: st, version: v}); err != nil {
				return fmt.Errorf("%s, version %d: %w", path, v.Rev, err)
			}
		}
	}
	return nil
}

// version adds a version to the sources, and searches its lines that were not searched yet and are
// not in the index.
func (r *searchReader) version(ctx context.Context, src *source) (err error) {
	s := r.s
	s.sources = append(s.sources, src)
	if src.runs, err = src.version.Runs(); err != nil {
		return err
	}
	var whole, long []history.Run
	for i := 0; i < len(src.runs); i++ {
		if src.runs[i].Part == history.Whole {
			if s.index == nil {
				whole = append(whole, src.runs[i])
			}
			continue
		}
		from := i // a line in parts
		for src.runs[i].Part == history.More && i+1 < len(src.runs) {
			i++
		}
		if key := fmt.Sprint(src.runs[from : i+1]); !r.long[key] {
			r.long[key] = true
			long = append(long, src.runs[from:i+1]...)
		}
	}
	fresh := history.Without(whole, r.seen)
	r.seen = history.Ranges(append(r.seen, fresh...))
	for line, err := range src.store.store.Lines(ctx, append(fresh, long...)) {
		if err != nil {
			return err
		}
		if err := r.lines(jsonl.Bytes(line.Data), jsonl.MapOptions{}); err != nil {
			return err
		}
		if len(r.own.hits) > 0 {
			s.add(&r.own, len(s.sources)-1, int(src.line(line.Piece)), line.Piece)
		}
	}
	return ctx.Err()
}

// onlyOld finds the texts of a search with --gone that the index has: it reads the lines of
// old versions that no chat at rest has, if not all are shown. Most of a history is still in chats, so this takes
// less than to look up where each text with a common word stands. all is false if it does
// not, or if a line cannot be read, and texts are then to be taken from the index.
func (s *searcher) onlyOld(ctx context.Context) (texts []uint64, all bool) {
	if !s.Gone || s.Limit == 0 {
		return nil, false
	}
	var present, old []history.Run
	for _, src := range s.sources {
		for _, r := range src.runs {
			switch {
			case r.Part != history.Whole:
			case src.old:
				old = append(old, r)
			default:
				present = append(present, r)
			}
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
		if err != nil || r.lines(jsonl.Bytes(line.Data), jsonl.MapOptions{}) != nil {
			return nil, false
		}
		for _, h := range r.own.hits {
			texts = append(texts, h.text)
		}
	}
	return texts, true
}
