package look

import (
	"cmp"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/wordindex"
)

// text is a text: where its hits begin, the one that is shown first, and its weight; see
// searcher.weights.
type text struct{ from, weight uint32 }

// hitsOf returns the hits of a text, and how many of them are places of it; the others only say
// that a present chat has it.
func hitsOf(rest []hit) (all []hit, places int) {
	n := 0
	for ; n < len(rest) && rest[n].text == rest[0].text; n++ {
		if rest[n].index != notHit {
			places++
		}
	}
	return rest[:n], places
}

// streamed is how many texts are looked up at a time if all are shown.
const streamed = 4096

// best calls each for the texts that were found, in order, and returns how many there are; with a
// limit, it may leave out some behind it. Of those in the index it looks up the places only for
// as many as are wanted and those that may come before them: for a word that every text has, that
// is a small part. Without a limit it holds no more than a part at a time. An error of the index
// means that it is damaged.
func (s *searcher) best(ctx context.Context, each func(text) error) (n int, err error) {
	all := s.matches == nil
	if !all {
		if all, err = s.lookUpRead(ctx); err != nil {
			return 0, err
		}
	}
	step := MostCounted + 1
	if s.Limit == 0 {
		step = streamed
	}
	for {
		list, err := s.texts(ctx)
		if err != nil {
			return n, err
		}
		var next wordindex.Candidate // all that is left in the index comes after it
		last := all
		if !all {
			next, last = s.matches.Next()
			last = !last
		}
		ready := len(list)
		switch {
		case last:
		case s.Limit == 0:
			ready, _ = slices.BinarySearchFunc(list, next, func(t text, next wordindex.Candidate) int {
				if s.surelyBefore(t, next) {
					return -1
				}
				return 1
			})
		case len(list) > max(s.Limit, MostCounted) && s.surelyBefore(list[s.Limit-1], next):
			last = true
		default:
			ready = 0
		}
		for _, t := range list[:ready] {
			if err := each(t); err != nil {
				return n, err
			}
			all, _ := hitsOf(s.hits[t.from:])
			for i := range all {
				all[i].index = shown
			}
			delete(s.weights, all[0].text)
			n++
		}
		if last {
			return n, ctx.Err()
		}
		uses, err := s.matches.Take(ctx, step)
		if err != nil {
			return n, err
		}
		s.look(ctx, uses)
		if s.Limit > 0 {
			step *= 4
		}
	}
}

// lookUpRead looks up the places of the texts that were found by reading, so that all are known;
// with --gone it may do so for all texts there are.
func (s *searcher) lookUpRead(ctx context.Context) (all bool, err error) {
	hashes := make([]uint64, 0, len(s.hits))
	for _, h := range s.hits {
		if h.index == notHit {
			continue
		}
		if hashes = append(hashes, h.text); !s.Rank && !s.byDate() {
			s.weights[h.text] = math.MaxUint32 // it is not archived yet
		}
	}
	old, all := s.onlyOld(ctx)
	hashes = append(hashes, old...)
	slices.Sort(hashes)
	uses, err := s.matches.TakeTexts(ctx, slices.Compact(hashes))
	s.look(ctx, uses)
	return all, err
}

// texts returns the texts of the hits so far, which must include all places of each, in the order
// of the result. Hits that are not needed any more are dropped.
func (s *searcher) texts(ctx context.Context) (list []text, err error) {
	s.hits = slices.DeleteFunc(s.hits, func(h hit) bool { return h.index == shown })
	slices.SortFunc(s.hits, s.byText)
	kept := s.hits[:0]
	for rest := s.hits; len(rest) > 0; {
		all, places := hitsOf(rest)
		hash, first := all[0].text, s.sources[all[0].source]
		switch {
		case places == 0 && s.matches != nil && slices.ContainsFunc(all, func(h hit) bool { return s.sources[h.source].version == nil }):
			kept = append(kept, all...) // the index may have places of it
		case places == 0 || s.Gone && (!first.old || places < len(all)):
			delete(s.weights, hash)
		default:
			list = append(list, text{uint32(len(kept)), s.weights[hash]})
			kept = append(kept, all...)
		}
		rest = rest[len(all):]
	}
	s.hits = kept
	if s.Rank {
		if err := s.score(ctx, list); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b text) int {
		if a.weight != b.weight {
			return cmp.Compare(b.weight, a.weight)
		}
		return s.before(&s.hits[a.from], &s.hits[b.from])
	})
	return list, nil
}

// surelyBefore reports whether a text surely comes before one that was not looked up.
func (s *searcher) surelyBefore(t text, next wordindex.Candidate) bool {
	switch {
	case s.Rank:
		return t.weight > math.Float32bits(next.Score)
	case s.byDate():
		date := s.hits[t.from].date
		return date != undated && (!next.Dated || date > next.At)
	default:
		return int64(t.weight) > next.Number
	}
}

// byText compares hits for sorting: by text, and of one text the one to show first: in a chat as it
// is now if there is one.
func (s *searcher) byText(a, b hit) int {
	if a.text != b.text {
		return cmp.Compare(a.text, b.text)
	}
	oldA, oldB := s.sources[a.source].old, s.sources[b.source].old
	return cmp.Or(compareBools(a.index == notHit, b.index == notHit), compareBools(oldA, oldB), s.before(&a, &b))
}

// before compares hits for sorting: the newest first and those without a date last; then by
// path, present chats before old versions, and by place.
func (s *searcher) before(a, b *hit) int {
	if a.date != b.date {
		return cmp.Compare(b.date, a.date)
	}
	from, to := s.sources[a.source], s.sources[b.source]
	return cmp.Or(strings.Compare(filepath.ToSlash(from.Path), filepath.ToSlash(to.Path)), compareBools(from.old, to.old),
		cmp.Compare(a.index, b.index), cmp.Compare(a.source, b.source), cmp.Compare(a.at, b.at))
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	if a == b {
		return 0
	}
	if b {
		return -1
	}
	return 1
}

// score computes the BM25 scores that the index did not.
func (s *searcher) score(ctx context.Context, list []text) error {
	known := false
	for i := range list {
		t := &list[i]
		if t.weight != 0 {
			continue
		}
		if len(list) > wordindex.MostRanked {
			return &wordindex.TooManyError{Found: len(list)}
		}
		if !known {
			if err := s.weigh(ctx, list); err != nil {
				return err
			}
			known = true
		}
		t.weight = math.Float32bits(scoreOf(&s.corpus, s.counts[s.hits[t.from].text]))
		s.weights[s.hits[t.from].text] = t.weight
	}
	return nil
}

// weigh counts the texts that determine the weight of terms: those in the index, else those in the
// chats that were read.
func (s *searcher) weigh(ctx context.Context, list []text) (err error) {
	if s.index != nil {
		s.corpus, err = s.index.Corpus(ctx, s.Query)
		return err
	}
	s.corpus.Having = make([]int64, len(s.Query.Terms()))
	for _, t := range list {
		for i, n := range s.counts[s.hits[t.from].text][1:] {
			s.corpus.Having[i] += min(1, int64(n))
		}
	}
	return nil
}

// scoreOf computes what SQLite's bm25() does: k1 is 1.2, b is 0.75, and a term in more than
// half of the texts counts next to nothing. It is rounded as the index's score is. counts is how
// many words the text has, and how often each term.
func scoreOf(c *wordindex.Corpus, counts []int32) float32 {
	const k1, b, least = 1.2, 0.75, 1e-6
	score := 0.0
	mean := float64(c.Words) / float64(max(c.Texts, 1))
	for i, n := range counts[1:] {
		having := float64(c.Having[i])
		idf := math.Log((float64(c.Texts) - having + 0.5) / (having + 0.5))
		if idf <= 0 {
			idf = least
		}
		score += idf * float64(n) * (k1 + 1) / (float64(n) + k1*(1-b+b*float64(counts[0])/max(mean, 1)))
	}
	return float32(score)
}
