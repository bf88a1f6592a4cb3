package look

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"stchat/internal/chat"
	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/wordindex"
	"stchat/internal/words"
)

// searchName is the number of the key "name", which a search reads besides those of
// [wordindex.Keys].
const searchName = wordindex.MoreKeys

// chatHits is what was found in a chat.
type chatHits struct {
	hits         []hit
	presentTexts []uint64 // texts that match but are not hits
	corpus       wordindex.Corpus
	large        bool // it was not read, being large
	err          error
}

// searchReader searches one chat after another, and reuses its memory.
type searchReader struct {
	s     *searcher
	terms []*words.Term
	keys  *jsonl.Keys
	buf   jsonl.Buffer
	own   searchTally
}

func newSearchReader(s *searcher) *searchReader {
	return &searchReader{s: s, terms: s.Query.Terms(), keys: wordindex.Keys("name")}
}

// read searches the chat with number i. With small it does not read a large one.
func (r *searchReader) read(ctx context.Context, i int, small bool) (res chatHits) {
	t := r.s.chats[i]
	c, err := chat.Open(ctx, t.Path, chat.Options{Groups: r.s.lib, Regular: t.From != "", Any: true})
	if err != nil {
		res.err = err
		return res
	}
	defer c.Close()
	if res.large = small && c.Source.Size > jsonl.Small; res.large {
		return res
	}
	add := func(tally *searchTally, index int) {
		for _, h := range tally.hits {
			h.chat = int32(i)
			h.index += int32(index)
			res.hits = append(res.hits, h)
		}
		res.presentTexts = append(res.presentTexts, tally.presentTexts...)
		res.corpus.Texts += tally.corpus.Texts
		res.corpus.Words += tally.corpus.Words
	}
	opt := jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Limit: -1, Keys: r.keys, Progress: r.s.Meter.Follow()}
	if small {
		r.own.reset()
		_, res.err = r.buf.Each(c.Source, opt, func(l *jsonl.Line) { r.own.line(l, r) })
		add(&r.own, 0)
	} else {
		res.err = jsonl.Map(ctx, c.Source, opt, func(l *jsonl.Line, t *searchTally) { t.line(l, r) }, func(t *searchTally, base jsonl.Base, _ jsonl.Damages) error {
			add(t, base.Index)
			return nil
		}, (*searchTally).reset)
	}
	res.hits = slices.Clip(res.hits)
	return res
}

// searchTally is what was found in a stretch of a chat.
type searchTally struct {
	hits         []hit
	presentTexts []uint64
	corpus       wordindex.Corpus

	text, words []byte
}

func (t *searchTally) reset() {
	t.hits, t.presentTexts, t.corpus = t.hits[:0], t.presentTexts[:0], wordindex.Corpus{}
}

// line searches one message.
func (t *searchTally) line(l *jsonl.Line, r *searchReader) {
	if l.Damage != nil {
		return
	}
	h := hit{off: l.Off, len: int64(len(l.Raw)), index: int32(l.Index)}
	looked, wanted := false, false
	for text := range wordindex.Texts(l) {
		h.chosen, h.swipe = text.Chosen, int32(text.Swipe)
		// role, date and name first: comparing words costs more
		if !looked {
			said := wordindex.SaidIn(l)
			h.date, h.dated = said.At, said.Dated
			wanted, looked = r.s.wants(said) && r.s.names(func() []byte { name, _ := l.Value(searchName); return name }), true
		}
		if shown := h.chosen || r.s.Swipes; shown && (wanted || r.s.Rank) || len(r.s.stores) > 0 {
			t.match(text.Raw, h, shown, wanted, r)
		}
	}
}

// match looks for the query in one text. A match is a hit if the text is shown and the
// message wanted, else the text is only noted.
func (t *searchTally) match(raw []byte, h hit, shown, wanted bool, r *searchReader) {
	var ok bool
	if t.text, ok = rawjson.AppendUnquoted(t.text[:0], raw); !ok {
		return
	}
	t.words = words.Append(t.words[:0], string(t.text))
	if r.s.Rank && shown {
		h.words = int32(words.Count(t.words))
		t.corpus.Texts++
		t.corpus.Words += int64(h.words)
	}
	if !r.s.Query.Match(t.words) {
		return
	}
	h.text = r.s.hash(t.text)
	if !shown || !wanted {
		t.presentTexts = append(t.presentTexts, h.text)
		return
	}
	if r.s.Rank {
		for _, term := range r.terms {
			h.counts = append(h.counts, int32(term.Count(t.words)))
		}
	}
	t.hits = append(t.hits, h)
}

// within reports whether a date is from since to until. A zero bound does not count.
func within(date, since, until time.Time) bool {
	return !date.Before(since) && (until.IsZero() || !date.After(until))
}

// oldVersion is a version that is searched.
type oldVersion struct {
	store *searchStore
	path  string
	owner string
	history.Version
	runs []history.Run // once they were needed
}

// line returns the number of the line that a piece is, or is part of.
func (o *oldVersion) line(piece int64) (n int64) {
	if o.runs == nil {
		o.runs, _ = o.Runs() // they were read before
	}
	for _, r := range o.runs {
		if piece >= r.First && piece < r.First+r.Count {
			if r.Part == history.Whole {
				n += piece - r.First
			}
			return n
		}
		switch r.Part {
		case history.Whole:
			n += r.Count
		case history.Last:
			n++
		}
	}
	return n
}

// oldReader searches a history.
type oldReader struct {
	s    *searcher
	st   *searchStore
	r    *searchReader
	seen []history.Run   // whole lines that were searched
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
		path := filepath.Join(o.st.root.Path, filepath.FromSlash(c.Path))
		if !history.KindOf(c.Path).IsChat() || !o.st.root.Means(path) {
			continue
		}
		owner := ""
		if history.KindOf(c.Path) == history.Solo {
			owner = filepath.Base(filepath.Dir(path))
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
	var whole, long []history.Run
	for i := 0; i < len(runs); i++ {
		if r := runs[i]; r.Part == history.Whole {
			if o.s.index == nil {
				whole = append(whole, r)
			}
			continue
		}
		from := i // a line in parts
		for runs[i].Part == history.More && i+1 < len(runs) {
			i++
		}
		if key := fmt.Sprint(runs[from : i+1]); !o.long[key] {
			o.long[key] = true
			long = append(long, runs[from:i+1]...)
		}
	}
	fresh := history.Without(whole, o.seen)
	o.seen = history.Ranges(append(o.seen, fresh...))
	for line, err := range o.st.store.Lines(ctx, append(fresh, long...)) {
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

// onlyOld finds the texts of a search with --gone that the index has: it reads the lines of
// old versions that no chat at rest has, if not all are shown. Most of a history is still in chats, so this takes
// less than to look up where each text with a common word stands. all is false if it does
// not, or if a line cannot be read, and texts are then to be taken from the index.
func (s *searcher) onlyOld(ctx context.Context, places []lineSpan) (texts []uint64, all bool) {
	if !s.Gone || s.Limit == 0 {
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
