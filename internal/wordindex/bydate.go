package wordindex

import (
	"context"
	"strconv"
	"strings"
)

// byDate is the order of places by their dates; what has no date comes last.
const byDate = "u.at DESC"

// numbers is a set of texts, by their numbers.
type numbers []uint64

func (s *numbers) add(n int64) {
	for int64(len(*s)) <= n>>6 {
		*s = append(*s, 0)
	}
	(*s)[n>>6] |= 1 << (n & 63)
}

func (s numbers) has(n int64) bool { return n>>6 < int64(len(s)) && s[n>>6]&(1<<(n&63)) != 0 }

// ask looks up the places of each text that matches, and sorts them.
func (m *Matches) ask(ctx context.Context, order string) error {
	condition, args := m.want.places()
	return m.query(ctx, "SELECT words.rowid, u.at FROM words CROSS JOIN use u ON u.text = words.rowid WHERE words MATCH ? AND "+condition+" ORDER BY "+order,
		append([]any{m.want.Query.FTS()}, args...))
}

// countTexts sets m.Texts. It lists the texts, too, unless the oldest make it likely that
// there are more than can be sorted by date: to list so many would take longer than to count.
func (m *Matches) countTexts(ctx context.Context) (list string, err error) {
	const part = 16
	match := m.want.Query.FTS()
	if err := m.x.get(ctx, metaTexts, &m.all); err != nil {
		return "", err
	}
	n, err := m.x.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? AND rowid <= ? LIMIT ?)", match, m.all/part, MostExact+1)
	if err != nil {
		return "", err
	}
	if n > MostExact {
		m.Texts = int(n)
		return "", nil
	}
	if n > MostExact/part {
		rest, err := m.x.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? AND rowid > ? LIMIT ?)", match, m.all/part, MostExact+1-n)
		m.Texts = int(n + rest)
		return "", err
	}
	err = m.x.conn.QueryRowContext(ctx, "SELECT count(*), coalesce(group_concat(rowid, ' '), '') FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)", match, MostExact+1).Scan(&m.Texts, &list)
	return list, err
}

// byDate asks for the newest places first; list has the texts, or is empty. Of many texts it
// does not look up and sort all places, but goes through the places of all texts by date,
// until enough are found. If that takes too long, since the texts are old, it is given up.
func (m *Matches) byDate(ctx context.Context, list string) error {
	if n := int64(m.Texts); n*n <= 200*m.all { // looking up a place takes ten times as long as reading the next
		return m.ask(ctx, byDate)
	}
	if list == "" {
		if err := m.x.conn.QueryRowContext(ctx, "SELECT group_concat(rowid, ' ') FROM words WHERE words MATCH ?", m.want.Query.FTS()).Scan(&list); err != nil {
			return err
		}
	}
	m.among, m.left = make(numbers, 0, m.all/64+1), 4*m.Texts
	for number := range strings.SplitSeq(list, " ") {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return err
		}
		m.among.add(n)
	}
	condition, args := m.want.places()
	return m.query(ctx, "SELECT u.text, u.at FROM use u INDEXED BY use_at WHERE "+condition+" ORDER BY "+byDate, args)
}

// query replaces the rows, and goes to the next text.
func (m *Matches) query(ctx context.Context, query string, args []any) (err error) {
	if m.rows != nil {
		_ = m.rows.Close()
		m.among = nil
	}
	if m.rows, err = m.x.conn.QueryContext(ctx, query, args...); err != nil {
		return err
	}
	return m.advance(ctx)
}
