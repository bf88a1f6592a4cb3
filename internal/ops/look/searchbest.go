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
	best    hit
	places  int
	number  int64 // in the order of archiving; the highest if it is not archived
	score   float32
	indexed bool // the score is the index's
	gone    bool
}

// gathering collects the texts found so far, each with all its places.
type gathering struct {
	s      *searcher
	list   []*found // in the order of the result
	corpus *wordindex.Corpus
}

// add turns the hits so far into texts; they must include all places of each. The best place
// is the one shown: in a present chat if there is one.
func (g *gathering) add(ctx context.Context) error {
	byText := make(map[uint64]*found, len(g.s.hits))
	var fresh []*found
	for _, h := range g.s.hits {
		f := byText[h.text]
		if f == nil {
			f = &found{best: h, gone: !g.s.held[h.text], number: h.number}
			byText[h.text] = f
			fresh = append(fresh, f)
		} else if f.best.chat < 0 && h.chat >= 0 || (f.best.chat < 0) == (h.chat < 0) && g.s.before(h, f.best) < 0 {
			f.best = h
		}
		if f.gone = f.gone && h.chat < 0; h.number == 0 {
			f.number = math.MaxInt64
		} else {
			f.score, f.indexed = h.score, true
		}
		f.places++
	}
	g.s.hits = nil
	if g.s.Gone {
		fresh = slices.DeleteFunc(fresh, func(f *found) bool { return !f.gone })
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
// not be counted.
func (g *gathering) enough() bool {
	next, ok := g.s.matches.Next()
	if !ok {
		return true
	}
	if g.s.Limit == 0 || len(g.list) <= max(g.s.Limit, MostCounted) {
		return false
	}
	last := g.list[g.s.Limit-1]
	switch {
	case g.s.Rank:
		return last.score > next.Score
	case g.s.byDate():
		return last.best.dated && (!next.Dated || last.best.date > next.At)
	default:
		return last.number > next.Number
	}
}

// score computes the BM25 scores that the index did not. The weight of a term comes from all
// texts of the histories, each counted once; without a history, from those that were read.
func (g *gathering) score(ctx context.Context, fresh []*found) error {
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
