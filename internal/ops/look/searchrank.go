package look

import (
	"context"
	"math"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/wordindex"
	"stchat/internal/words"
)

// corpusOf counts the texts that determine the weight of terms.
func corpusOf(ctx context.Context, s *searcher, all []*found) (wordindex.Corpus, error) {
	if s.index != nil {
		return s.index.Corpus(ctx, s.Query)
	}
	if len(s.stores) > 0 {
		return countStores(ctx, s)
	}
	c := s.corpus
	c.Having = make([]int64, len(s.Query.Terms()))
	for _, f := range all {
		for i, n := range f.best.counts {
			c.Having[i] += min(1, int64(n))
		}
	}
	return c, nil
}

// countStores counts the texts of the histories, each once, as the index does.
func countStores(ctx context.Context, s *searcher) (c wordindex.Corpus, err error) {
	terms := s.Query.Terms()
	c.Having = make([]int64, len(terms))
	known := map[uint64]bool{}
	var buf jsonl.Buffer
	var said []byte
	count := func(l *jsonl.Line) {
		if l.Damage != nil {
			return
		}
		for t := range wordindex.Texts(l) {
			text, _ := rawjson.Unquote(t.Raw)
			hash := s.hash([]byte(text))
			if said = words.Append(said[:0], text); known[hash] || len(said) == 0 {
				continue
			}
			known[hash] = true
			c.Texts++
			c.Words += int64(words.Count(said))
			for i, term := range terms {
				c.Having[i] += min(1, int64(term.Count(said)))
			}
		}
	}
	keys := wordindex.Keys()
	for _, st := range s.stores {
		o := &oldReader{s: s, st: st}
		if err := o.each(ctx, func(_ history.Chat, _ string, v history.Version) error {
			runs, err := v.Runs()
			if err != nil {
				return err
			}
			for _, r := range runs {
				if r.Part != history.Whole {
					continue
				}
				for line, err := range st.store.Lines(ctx, o.unseen(r)) {
					if err != nil {
						return err
					}
					if _, err := buf.Each(jsonl.Bytes(line.Data), jsonl.MapOptions{Limit: -1, Keys: keys}, count); err != nil {
						return err
					}
				}
			}
			return ctx.Err()
		}); err != nil {
			return c, err
		}
	}
	return c, nil
}

// scoreOf computes what SQLite's bm25() does: k1 is 1.2, b is 0.75, and a term in more than
// half of the texts counts next to nothing. It is rounded as the index's score is.
func scoreOf(c *wordindex.Corpus, h hit) float32 {
	const k1, b, least = 1.2, 0.75, 1e-6
	score := 0.0
	mean := float64(c.Words) / float64(max(c.Texts, 1))
	for i, n := range h.counts {
		having := float64(c.Having[i])
		idf := math.Log((float64(c.Texts) - having + 0.5) / (having + 0.5))
		if idf <= 0 {
			idf = least
		}
		score += idf * float64(n) * (k1 + 1) / (float64(n) + k1*(1-b+b*float64(h.words)/max(mean, 1)))
	}
	return float32(score)
}
