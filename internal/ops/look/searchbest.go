package look

import (
	"cmp"
	"context"
	"math"
	"slices"

	"stchat/internal/wordindex"
)

// found is one text with all its places.
type found struct {
	best           hit
	present        []hit // in chats as they are now, if the eldest is wanted
	places         int
	number         int64 // in the order of archiving; the highest if it is not archived
	score          float32
	indexed        bool // the score is the index's
	onlyInVersions bool
}

// best calls each for the texts that were found, in order, and returns how many there are; with a
// limit, it may leave out some behind it. Of those in the index it looks up the places only for
// as many as are wanted and those that may come before them: for a word that every text has, that
// is a small part. Without a limit it holds no more than a part at a time. An error of the index
// means that it is damaged.
func (s *searcher) best(ctx context.Context, each func(*found) error) (n int, err error) {
	g := &gathered{s: s, each: each}
	if s.matches == nil {
		err = g.add(ctx)
		return len(g.list), cmp.Or(err, g.tell(len(g.list)))
	}
	places, err := s.places()
	if err != nil {
		return 0, err
	}
	texts := make([]uint64, 0, len(s.hits)) // found by reading
	for _, h := range s.hits {
		texts = append(texts, h.text)
	}
	old, all := s.onlyOld(ctx, places)
	texts = append(texts, old...)
	slices.Sort(texts)
	uses, err := s.matches.TakeTexts(ctx, slices.Compact(texts))
	step := MostCounted + 1
	for err == nil {
		s.look(ctx, places, uses)
		if err = g.add(ctx); err != nil || all {
			break
		}
		if s.Limit == 0 {
			err = g.tell(g.ahead())
			n += g.told
			g.told, step = 0, streamed
			for _, text := range s.looked {
				delete(s.presentTexts, text)
			}
			s.looked = s.looked[:0]
		}
		if _, more := s.matches.Next(); err != nil || !more || s.Limit > 0 && g.enough() {
			break
		}
		if uses, err = s.matches.Take(ctx, step); s.Limit > 0 {
			step *= 4
		}
	}
	if err == nil {
		n += len(g.list)
		err = g.tell(len(g.list))
	}
	return n, cmp.Or(ctx.Err(), err)
}

// streamed is how many texts are looked up at a time if all are shown.
const streamed = 4096

// gathered collects the texts found so far, each with all its places.
type gathered struct {
	s      *searcher
	list   []*found // in the order of the result
	each   func(*found) error
	told   int
	corpus *wordindex.Corpus
}

// tell tells of the first n texts, and forgets them.
func (g *gathered) tell(n int) error {
	for i, f := range g.list[:n] {
		if err := g.each(f); err != nil {
			return err
		}
		g.list[i] = nil
		g.told++
	}
	g.list = g.list[n:]
	return nil
}

// ahead counts the texts that come before all that are left in the index.
func (g *gathered) ahead() int {
	next, more := g.s.matches.Next()
	if !more {
		return len(g.list)
	}
	n, _ := slices.BinarySearchFunc(g.list, next, func(f *found, next wordindex.Candidate) int {
		if g.before(f, &next) {
			return -1
		}
		return 1
	})
	return n
}

// add turns the hits so far into texts; they must include all places of each. The best place
// is the one shown: in a present chat if there is one.
func (g *gathered) add(ctx context.Context) error {
	byText := make(map[uint64]*found, len(g.s.hits))
	var fresh []*found
	for _, h := range g.s.hits {
		f := byText[h.text]
		if f == nil {
			f = &found{best: h, onlyInVersions: !g.s.presentTexts[h.text], number: h.number}
			byText[h.text] = f
			fresh = append(fresh, f)
		} else if f.best.chat < 0 && h.chat >= 0 || (f.best.chat < 0) == (h.chat < 0) && g.s.before(h, f.best) < 0 {
			f.best = h
		}
		if f.onlyInVersions = f.onlyInVersions && h.chat < 0; h.number == 0 {
			f.number = math.MaxInt64
		} else {
			f.score, f.indexed = h.score, true
		}
		if f.places++; g.s.Read && h.chat >= 0 {
			f.present = append(f.present, h)
		}
	}
	g.s.hits = nil
	if g.s.Gone {
		fresh = slices.DeleteFunc(fresh, func(f *found) bool { return !f.onlyInVersions })
	}
	if g.s.Rank {
		if err := g.score(ctx, fresh); err != nil {
			return err
		}
	}
	g.list = append(g.list, fresh...)
	slices.SortFunc(g.list, func(a, b *found) int {
		switch {
		case g.s.Rank:
			return cmp.Or(cmp.Compare(b.score, a.score), g.s.before(a.best, b.best))
		case g.s.byDate():
			return g.s.before(a.best, b.best)
		default:
			return cmp.Or(cmp.Compare(b.number, a.number), g.s.before(a.best, b.best))
		}
	})
	return nil
}

// enough reports whether all that is left in the index comes after what is shown, and need
// not be looked up to be counted.
func (g *gathered) enough() bool {
	next, ok := g.s.matches.Next()
	if !ok {
		return true
	}
	return len(g.list) > max(g.s.Limit, MostCounted) && g.before(g.list[g.s.Limit-1], &next)
}

// before reports whether a text surely comes before one that was not looked up.
func (g *gathered) before(f *found, next *wordindex.Candidate) bool {
	switch {
	case g.s.Rank:
		return f.score > next.Score
	case g.s.byDate():
		return f.best.dated && (!next.Dated || f.best.date > next.At)
	default:
		return f.number > next.Number
	}
}

// score computes the BM25 scores that the index did not.
func (g *gathered) score(ctx context.Context, fresh []*found) error {
	for _, f := range fresh {
		if f.indexed {
			continue
		}
		if g.corpus == nil {
			if len(fresh) > wordindex.MostRanked {
				return &wordindex.TooManyError{Found: len(fresh)}
			}
			c, err := corpusOf(ctx, g.s, fresh)
			if err != nil {
				return err
			}
			g.corpus = &c
		}
		f.score = scoreOf(g.corpus, f.best)
	}
	return nil
}

// corpusOf counts the texts that determine the weight of terms: those in the index, else those
// in the chats that were read.
func corpusOf(ctx context.Context, s *searcher, all []*found) (wordindex.Corpus, error) {
	if s.index != nil {
		return s.index.Corpus(ctx, s.Query)
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
