package look

import (
	"context"
	"slices"
	"time"

	"stchat/internal/chat"
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
