package wordindex

import (
	"context"
	"database/sql/driver"
	"math"
	"slices"

	"stchat/internal/words"
)

// Corpus is what ranking needs to know of all texts.
type Corpus struct {
	Texts, Words int64
	Having       []int64 // how many texts have each of the query's terms
}

// ranked are texts with their scores, the higher the better. Scores are rounded, so that one
// computed elsewhere is equal.
type ranked struct {
	ids    []int64 // ascending
	scores []float32
	order  []uint64 // the best first: the bits of the score, inverted, and below them the place in ids
}

// rank scores the texts that have a query. The error is a [*TooManyError] if there are more
// than most. They are not counted first, which would take a fifth of the time, but if the
// first ones make it likely that there are far too many, or when there are.
func rank(ctx context.Context, x *Index, q *words.Query, most int) (*ranked, error) {
	var texts int64
	if err := x.get(ctx, metaTexts, &texts); err != nil {
		return nil, err
	}
	r, sample, last, doubtful := &ranked{}, most/10, int64(0), true
	for doubtful {
		doubtful = false
		err := x.each(ctx, "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ? AND rowid > ? ORDER BY rowid", []any{q.FTS(), last}, func(row []driver.Value) bool {
			i := len(r.ids)
			score := float32(row[1].(float64))
			last = row[0].(int64)
			r.ids, r.scores = append(r.ids, last), append(r.scores, score)
			// a score is above 0, so its bits are ordered as it is
			r.order = append(r.order, uint64(^math.Float32bits(score))<<32|uint64(i))
			doubtful = i == most || i == sample && int64(sample)*texts/last > 2*int64(most)
			return !doubtful
		})
		if err != nil {
			return nil, err
		}
		if doubtful {
			n, err := x.count(ctx, "SELECT count(*) FROM words WHERE words MATCH ?", q.FTS())
			if err != nil {
				return nil, err
			}
			if n > int64(most) {
				return nil, &TooManyError{int(n)}
			}
		}
	}
	slices.Sort(r.order)
	return r, nil
}

// at returns the text with the i-th best score.
func (r *ranked) at(i int) Candidate {
	n := uint32(r.order[i])
	return Candidate{Number: r.ids[n], Score: r.scores[n]}
}

// of returns the score of a text; 0 where nothing is ranked.
func (r *ranked) of(id int64) float32 {
	if r == nil {
		return 0
	}
	if i, ok := slices.BinarySearch(r.ids, id); ok {
		return r.scores[i]
	}
	return 0
}
