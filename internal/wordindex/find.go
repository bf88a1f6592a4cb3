package wordindex

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"stchat/internal/history"
	"stchat/internal/message"
	"stchat/internal/words"
)

const (
	// MostExact is of how many texts that have a query the newest are known.
	MostExact = 50_000
	// MostRanked is how many texts can be ranked.
	MostRanked = 200_000
)

// TooManyError says that more texts were found than can be ranked.
type TooManyError struct{ Found int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d texts have this, and at most %d can be ranked", e.Found, MostRanked)
}

// Want says which texts are looked for.
type Want struct {
	Query *words.Query
	Rank  bool // the best first, else the newest

	// Texts without a place that has all of this are left out. The places of the others are
	// returned whatever they have.
	Roles        []message.Who // any of them; empty: all
	Since, Until time.Time     // zero where they do not matter
	Swipes       bool          // also those that are not shown
}

// Find looks up the texts that have a query; it opens a [Matches], which ends with the
// index. The error may be a [*TooManyError].
func (x *Index) Find(ctx context.Context, w *Want) (*Matches, error) {
	m := &Matches{x: x, done: map[int64]bool{}}
	if w.Rank {
		n, err := x.count(ctx, "SELECT count(*) FROM words WHERE words MATCH ?", w.Query.FTS())
		if err != nil {
			return nil, err
		}
		if n > MostRanked {
			return nil, &TooManyError{int(n)}
		}
		m.ranked, err = x.score(ctx, w.Query)
		if err != nil {
			return nil, err
		}
		return m, m.advance()
	}
	n, err := x.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)", w.Query.FTS(), MostExact+1)
	if err != nil {
		return nil, err
	}
	m.ByDate = n <= MostExact
	condition, args := w.places()
	order := "words.rowid DESC"
	if m.ByDate {
		order = "u.at DESC" // what has no date comes last
	}
	query := "SELECT words.rowid, u.at FROM words CROSS JOIN use u ON u.text = words.rowid WHERE words MATCH ? AND " + condition + " ORDER BY " + order
	if m.rows, err = x.conn.QueryContext(ctx, query, append([]any{w.Query.FTS()}, args...)...); err != nil {
		return nil, err
	}
	return m, m.advance()
}

// places returns a condition of the places that are looked for.
func (w *Want) places() (condition string, args []any) {
	all := []string{"1"}
	if !w.Swipes {
		all = append(all, "u.chosen")
	}
	if len(w.Roles) > 0 {
		all = append(all, "u.role IN ("+strings.Trim(strings.Repeat("?,", len(w.Roles)), ",")+")")
		for _, role := range w.Roles {
			args = append(args, slices.Index(roles(), role))
		}
	}
	if !w.Since.IsZero() {
		all, args = append(all, "u.at >= ?"), append(args, w.Since.UnixMilli())
	}
	if !w.Until.IsZero() {
		all, args = append(all, "u.at <= ?"), append(args, w.Until.UnixMilli())
	}
	return strings.Join(all, " AND "), args
}

func (x *Index) count(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = x.conn.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// Use is a place where a text that was found stands.
type Use struct {
	Text   uint64 // its [Hash]
	Piece  int64  // the line
	Number int64  // of the text, in the order of archiving
	Swipe  int
	Chosen bool
	Said
	Score float32 // of the text, where texts are ranked
}

// Uses are the places of some texts, by piece.
type Uses []Use

// In returns where those begin and end that stand in a run of whole lines.
func (list Uses) In(r history.Run) (from, to int) {
	at := func(piece int64) int {
		i, _ := slices.BinarySearchFunc(list, piece, func(u Use, piece int64) int { return int(min(1, max(-1, u.Piece-piece))) })
		return i
	}
	return at(r.First), at(r.First + r.Count)
}

// uses reads all places of the texts that a column of text tells, each once.
func (m *Matches) uses(ctx context.Context, column string, which []int64) (list Uses, err error) {
	if len(which) == 0 {
		return nil, nil
	}
	values, err := json.Marshal(which)
	if err != nil {
		return nil, err
	}
	rows, err := m.x.conn.QueryContext(ctx, `SELECT t.h, t.id, u.piece, u.swipe, u.chosen, u.role, u.at
		FROM json_each(?) j CROSS JOIN text t ON t.`+column+` = j.value CROSS JOIN use u ON u.text = t.id`, string(values))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	who := roles()
	for rows.Next() {
		var u Use
		var h int64
		var role int
		var at sql.NullInt64
		if err := rows.Scan(&h, &u.Number, &u.Piece, &u.Swipe, &u.Chosen, &role, &at); err != nil {
			return nil, err
		}
		u.Text, u.Said, u.Score = uint64(h), Said{who[role], at.Int64, at.Valid}, m.ranked.of(u.Number)
		list = append(list, u)
	}
	slices.SortStableFunc(list, func(a, b Use) int { return int(min(1, max(-1, a.Piece-b.Piece))) })
	return list, rows.Err()
}
