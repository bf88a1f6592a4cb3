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
	number  int64 // in the order of archiving: the last for what is not
	score   float32
	indexed bool // the score is the index's
	gone    bool
}

// gathering are the texts that were found so far, each with all its places.
type gathering struct {
	s      *searcher
	list   []*found // the first first
	corpus *wordindex.Corpus
}

// best returns the texts that were found, the first first. Of those that the index has it
// looks only at the places of as many as are wanted, and of those that may come before
// them: of a word that all texts have that is a small part.
func (s *searcher) best(ctx context.Context) ([]*found, error) {
	g := &gathering{s: s}
	if s.matches == nil {
		return g.list, g.add(ctx)
	}
	places, err := s.places()
	if err != nil {
		return nil, err
	}
	texts := make([]uint64, 0, len(s.hits)) // that were read somewhere
	for _, h := range s.hits {
		texts = append(texts, h.text)
	}
	slices.Sort(texts)
	uses, err := s.matches.TakeTexts(ctx, slices.Compact(texts))
	for n := MostCounted + 1; err == nil; n *= 4 {
		s.look(ctx, places, uses)
		if err = g.add(ctx); err != nil || g.enough() {
			break
		}
		uses, err = s.matches.Take(ctx, n)
	}
	return g.list, cmp.Or(err, ctx.Err())
}

// add brings the places of each text together that were found, and are all that it has.
// The best of them is the one that is shown, in a present chat where there is one.
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

// enough reports whether what else the index has comes behind what is shown, and need not
// be counted.
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

// byDate reports whether the newest text comes first, unless texts are ranked.
func (s *searcher) byDate() bool { return s.Rank || s.matches == nil || s.matches.ByDate }
