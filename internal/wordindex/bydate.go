package wordindex

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
)

// numbers is a set of texts, by their numbers.
type numbers []uint64

func (s *numbers) add(n int64) {
	for int64(len(*s)) <= n>>6 {
		*s = append(*s, 0)
	}
	(*s)[n>>6] |= 1 << (n & 63)
}

func (s numbers) has(n int64) bool { return n>>6 < int64(len(s)) && s[n>>6]&(1<<(n&63)) != 0 }

// byArchiving asks for the places of all texts that match, the last archived first.
func (m *Matches) byArchiving(ctx context.Context) error {
	condition, args := m.want.places()
	return m.query(ctx, "SELECT u.text, u.at FROM words CROSS JOIN use u ON u.text = words.rowid WHERE words MATCH ? AND "+condition+" ORDER BY words.rowid DESC",
		append([]any{m.want.Query.FTS()}, args...))
}

// listTexts sets m.Texts, and m.ids unless there are more than most. If the oldest make it
// likely that there are far more, they are passed over up to that number, which takes less
// than to list them.
func (m *Matches) listTexts(ctx context.Context, most int) error {
	const part = 32
	match := m.want.Query.FTS()
	if err := m.x.get(ctx, metaTexts, &m.all); err != nil {
		return err
	}
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
	err = m.x.conn.QueryRowContext(ctx, "SELECT count(*), coalesce(group_concat(rowid, ' '), '') FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)", match, most+1).Scan(&m.Texts, &list)
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

// byDate asks for the newest places first; what has no date comes last. Of many texts it does
// not look up and sort all places, but goes through the places of all texts by date, until
// enough are found. If that takes too long, since the texts are old, it is given up.
func (m *Matches) byDate(ctx context.Context) error {
	if n := int64(m.Texts); n*n <= 200*m.all { // looking up a place takes ten times as long as reading the next
		return m.sorted(ctx)
	}
	m.among, m.left = make(numbers, 0, m.all/64+1), 4*m.Texts
	for _, n := range m.ids {
		m.among.add(n)
	}
	condition, args := m.want.places()
	return m.query(ctx, "SELECT u.text, u.at FROM use u INDEXED BY use_at WHERE "+condition+" ORDER BY u.at DESC", args)
}

// sorted asks for the places of the listed texts, the newest first.
func (m *Matches) sorted(ctx context.Context) error {
	list, err := json.Marshal(m.ids)
	if err != nil {
		return err
	}
	condition, args := m.want.places()
	return m.query(ctx, "SELECT u.text, u.at FROM json_each(?) t CROSS JOIN use u ON u.text = t.value WHERE "+condition+" ORDER BY u.at DESC",
		append([]any{string(list)}, args...))
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
