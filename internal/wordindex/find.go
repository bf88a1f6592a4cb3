package wordindex

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"stchat/internal/history"
	"stchat/internal/words"
)

const (
	// MostExact is of how many texts that have a query all places are looked at.
	MostExact = 50_000
	// MostRanked is how many texts can be ranked.
	MostRanked = 200_000
)

// TooManyError says that more texts were found than can be ranked.
type TooManyError struct{ Found int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d texts have this, and at most %d can be ranked", e.Found, MostRanked)
}

// Use is a place where a text that was found stands.
type Use struct {
	Text   uint64 // its [Hash]
	Piece  int64  // the line
	Number int64  // of the text, in the order of archiving
	Swipe  int
	Chosen bool
	Said
}

// Found is what the index has of a query.
type Found struct {
	Uses   []Use // by piece
	All    bool  // else the texts that were archived last
	Scores map[uint64]float64
}

// Find returns where the texts stand that have a query: all of at most [MostExact], else
// those that were archived last. With rank there are scores, the higher the better, of
// any number up to [MostRanked]; the error may be a [*TooManyError].
func (x *Index) Find(ctx context.Context, q *words.Query, rank bool) (*Found, error) {
	most := MostExact
	f := &Found{All: true}
	if rank {
		most = MostRanked
		var n int
		if err := x.conn.QueryRowContext(ctx, "SELECT count(*) FROM words WHERE words MATCH ?", q.FTS()).Scan(&n); err != nil {
			return nil, err
		}
		if n > most {
			return nil, &TooManyError{n}
		}
		if err := x.score(ctx, q, f); err != nil {
			return nil, err
		}
	}
	rows, err := x.conn.QueryContext(ctx, `SELECT t.h, t.id, u.piece, u.swipe, u.chosen, u.role, u.at
		FROM (SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?) m CROSS JOIN text t ON t.id = m.id CROSS JOIN use u ON u.text = m.id`, q.FTS(), most+1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	who, texts, number := roles(), 0, int64(0)
	for rows.Next() {
		var u Use
		var h int64
		var role int
		var at sql.NullInt64
		if err := rows.Scan(&h, &u.Number, &u.Piece, &u.Swipe, &u.Chosen, &role, &at); err != nil {
			return nil, err
		}
		if u.Number != number {
			number = u.Number
			if texts++; texts > most {
				f.All = false
				break
			}
		}
		u.Text, u.Said = uint64(h), Said{who[role], at.Int64, at.Valid}
		f.Uses = append(f.Uses, u)
	}
	slices.SortStableFunc(f.Uses, func(a, b Use) int { return int(min(1, max(-1, a.Piece-b.Piece))) })
	return f, rows.Err()
}

// score ranks the texts that have a query.
func (x *Index) score(ctx context.Context, q *words.Query, f *Found) error {
	rows, err := x.conn.QueryContext(ctx, "SELECT t.h, -bm25(words) FROM words CROSS JOIN text t ON t.id = words.rowid WHERE words MATCH ?", q.FTS())
	if err != nil {
		return err
	}
	defer rows.Close()
	f.Scores = map[uint64]float64{}
	for rows.Next() {
		var h int64
		var score float64
		if err := rows.Scan(&h, &score); err != nil {
			return err
		}
		f.Scores[uint64(h)] = score
	}
	return rows.Err()
}

// Corpus is what ranking needs to know of all texts.
type Corpus struct {
	Texts, Words int64
	Having       []int64 // how many texts have each of the query's terms
}

// Corpus counts the texts of the index.
func (x *Index) Corpus(ctx context.Context, q *words.Query) (c Corpus, err error) {
	for k, n := range map[string]*int64{metaTexts: &c.Texts, metaWords: &c.Words} {
		if err := x.get(ctx, k, n); err != nil {
			return c, err
		}
	}
	for _, t := range q.Terms() {
		var n int64
		if err := x.conn.QueryRowContext(ctx, "SELECT count(*) FROM words WHERE words MATCH ?", t.FTS()).Scan(&n); err != nil {
			return c, err
		}
		c.Having = append(c.Having, n)
	}
	return c, nil
}

// In returns the uses of lines that a run of whole lines has.
func (f *Found) In(r history.Run) []Use {
	at := func(piece int64) int {
		i, _ := slices.BinarySearchFunc(f.Uses, piece, func(u Use, piece int64) int { return int(min(1, max(-1, u.Piece-piece))) })
		return i
	}
	return f.Uses[at(r.First):at(r.First+r.Count)]
}
