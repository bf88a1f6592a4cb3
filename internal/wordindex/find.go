package wordindex

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"stchat/internal/history"
	"stchat/internal/message"
	"stchat/internal/words"
)

const (
	// MostExact is the largest number of matching texts that are sorted by date.
	MostExact = 50_000
	// MostRanked is how many texts can be ranked.
	MostRanked = 200_000
)

// TooManyError means that more texts were found than can be ranked.
type TooManyError struct{ Found int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d texts have this, and at most %d can be ranked", e.Found, MostRanked)
}

// Want describes the texts to look for.
type Want struct {
	Query *words.Query
	Rank  bool // the best first, else the newest

	// If texts are not ranked, those without a place that meets all of these conditions are
	// left out. All places of the others are returned.
	Roles        []message.Who // any of them; empty: all
	Since, Until time.Time     // zero where they do not matter
	Swipes       bool          // also those that are not shown
}

// places returns the SQL condition of the wanted places, and its arguments.
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

// Use is a place of a text that was found.
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

// In returns the range of the places in a run of whole lines, as indexes into list.
func (list Uses) In(r history.Run) (from, to int) {
	at := func(piece int64) int {
		i, _ := slices.BinarySearchFunc(list, piece, func(u Use, piece int64) int { return int(min(1, max(-1, u.Piece-piece))) })
		return i
	}
	return at(r.First), at(r.First + r.Count)
}

// numbers is a set of texts, by their numbers.
type numbers []uint64

func (s *numbers) add(n int64) {
	for int64(len(*s)) <= n>>6 {
		*s = append(*s, 0)
	}
	(*s)[n>>6] |= 1 << (n & 63)
}

func (s numbers) has(n int64) bool { return n>>6 < int64(len(s)) && s[n>>6]&(1<<(n&63)) != 0 }

// places yields the texts of places, as a query has them, in its order.
func (m *Matches) places(ctx context.Context, query string, args ...any) iter.Seq2[Candidate, error] {
	condition, more := m.want.places()
	return func(yield func(Candidate, error) bool) {
		err := m.x.Each(ctx, fmt.Sprintf(query, condition), append(args, more...), func(scan func(...any) error) error {
			var c Candidate
			var at sql.NullInt64
			if err := scan(&c.Number, &at); err != nil {
				return fmt.Errorf("%w: %w", ErrDamaged, err)
			}
			if c.At, c.Dated = at.Int64, at.Valid; !yield(c, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Candidate{}, err)
		}
	}
}

var errStopped = errors.New("no more is wanted")

// listTexts sets m.Texts, and m.ids unless there are more than most. If the oldest make it
// likely that there are far more, they are passed over up to that number, which takes less
// than to list them.
func (m *Matches) listTexts(ctx context.Context, most int) error {
	const part = 32
	match := m.want.Query.FTS()
	n, err := m.x.count(ctx, "SELECT count(*) FROM words WHERE words MATCH ? AND rowid <= ?", match, m.all/part)
	if err == nil && n > 2*int64(most)/part && n <= int64(most) {
		var more int64
		more, err = m.x.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? AND rowid > ? LIMIT 1 OFFSET ?)", match, m.all/part, int64(most)-n)
		n += more * int64(most) // or 0
	}
	if m.Texts = most + 1; n > int64(most) || err != nil {
		return err
	}
	var list string
	err = m.x.Row(ctx, "SELECT count(*), coalesce(group_concat(rowid, ' '), '') FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)", match, most+1).Scan(&m.Texts, &list)
	if err != nil || m.Texts > most {
		return err
	}
	m.ids = make([]int64, 0, m.Texts)
	for number := range strings.FieldsSeq(list) {
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return err
		}
		m.ids = append(m.ids, id)
	}
	return nil
}

// byDate yields the texts of the newest places first; what has no date comes last. Of many texts it
// does not look up and sort all places, but goes through the places of all texts by date, until
// enough are found. If that takes too long, since the texts are old, it is given up.
func (m *Matches) byDate(ctx context.Context) iter.Seq2[Candidate, error] {
	return func(yield func(Candidate, error) bool) {
		if n := int64(m.Texts); n*n > 200*m.all { // looking up a place takes ten times as long as reading the next
			among, left := make(numbers, 0, m.all/64+1), 4*m.Texts
			for _, n := range m.ids {
				among.add(n)
			}
			all := true
			for c, err := range m.places(ctx, "SELECT u.text, u.at FROM use u INDEXED BY use_at WHERE %s ORDER BY u.at DESC") {
				if left--; left < 0 {
					all = false
					break
				}
				if (err != nil || among.has(c.Number)) && !yield(c, err) {
					return
				}
			}
			if all {
				return
			}
		}
		list, _ := json.Marshal(m.ids) // numbers
		m.places(ctx, "SELECT u.text, u.at FROM json_each(?) t CROSS JOIN use u ON u.text = t.value WHERE %s ORDER BY u.at DESC", string(list))(yield)
	}
}

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
// than most.
func rank(ctx context.Context, x *Index, q *words.Query, most int) (*ranked, error) {
	r := &ranked{}
	err := x.Each(ctx, "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ? ORDER BY rowid", []any{q.FTS()}, func(scan func(...any) error) error {
		if len(r.ids) == most {
			n, err := x.count(ctx, "SELECT count(*) FROM words WHERE words MATCH ?", q.FTS())
			return cmp.Or(err, error(&TooManyError{int(n)}))
		}
		var id int64
		var score float32
		if err := scan(&id, &score); err != nil {
			return err
		}
		// a score is above 0, so its bits are ordered as it is
		r.order = append(r.order, uint64(^math.Float32bits(score))<<32|uint64(len(r.ids)))
		r.ids, r.scores = append(r.ids, id), append(r.scores, score)
		return nil
	})
	slices.Sort(r.order)
	return r, err
}

// texts yields the texts, the best first.
func (r *ranked) texts(yield func(Candidate, error) bool) {
	for _, at := range r.order {
		if n := uint32(at); !yield(Candidate{Number: r.ids[n], Score: r.scores[n]}, nil) {
			return
		}
	}
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
