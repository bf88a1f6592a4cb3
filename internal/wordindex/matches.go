package wordindex

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
)

// Matches are the texts that match a query, the most promising first: by score if they are
// ranked, else by their newest date or, if there are too many, the last archived first. Their
// places are read on demand: of a common word few will be shown.
type Matches struct {
	ByDate bool // if not ranked; else the last archived first
	Texts  int  // how many match, with or without the wanted places; at most [MostExact]+1 unless ranked

	Close func() // ends the query

	x      *Index
	want   *Want
	all    int64   // texts in the index
	ids    []int64 // those that match, ascending; nil where the last archived come first, or the best
	ranked *ranked
	pull   func() (Candidate, error, bool)
	next   Candidate
	more   bool // there is a next one
	done   numbers
}

// Candidate is a text whose places were not read yet.
type Candidate struct {
	Number int64 // in the order of archiving
	Score  float32
	At     int64 // none of its places is newer, in milliseconds since 1970
	Dated  bool  // else none has a date
}

// Next returns the most promising text that was not taken; ok is false at the end.
func (m *Matches) Next() (next Candidate, ok bool) { return m.next, m.more }

// Take returns all places of the n most promising texts that were not taken, or of all that
// are left.
func (m *Matches) Take(ctx context.Context, n int) (Uses, error) {
	var ids []int64
	for m.more && len(ids) < n {
		ids = append(ids, m.next.Number)
		m.done.add(m.next.Number)
		if err := m.advance(); err != nil {
			return nil, err
		}
	}
	return m.uses(ctx, "id", ids)
}

// TakeTexts returns all places of the texts that have these hashes.
func (m *Matches) TakeTexts(ctx context.Context, hashes []uint64) (Uses, error) {
	values := make([]int64, len(hashes))
	for i, h := range hashes {
		values[i] = int64(h)
	}
	list, err := m.uses(ctx, "h", values)
	for _, u := range list {
		m.done.add(u.Number)
	}
	for err == nil && m.more && m.done.has(m.next.Number) {
		err = m.advance()
	}
	return list, err
}

// advance goes to the next text that was not taken.
func (m *Matches) advance() (err error) {
	for {
		m.next, err, m.more = m.pull()
		switch {
		case err != nil || !m.more:
			return err
		case m.next.Number < 1 || m.next.Number > m.all:
			return fmt.Errorf("%w: there is no text %d", ErrDamaged, m.next.Number)
		case !m.done.has(m.next.Number):
			return nil
		}
	}
}

// uses reads all places of the texts for which a column of the table text, id or h, has one of
// the values.
func (m *Matches) uses(ctx context.Context, column string, which []int64) (list Uses, err error) {
	if len(which) == 0 {
		return nil, nil
	}
	values, err := json.Marshal(which)
	if err != nil {
		return nil, err
	}
	who := roles()
	err = m.x.Each(ctx, `SELECT t.h, t.id, u.piece, u.swipe, u.chosen, u.role, u.at
		FROM json_each(?) j CROSS JOIN text t ON t.`+column+` = j.value CROSS JOIN use u ON u.text = t.id`, []any{string(values)}, func(scan func(...any) error) error {
		var u Use
		var h int64
		var role int
		var at sql.NullInt64
		if err := scan(&h, &u.Number, &u.Piece, &u.Swipe, &u.Chosen, &role, &at); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if role < 0 || role >= len(who) || u.Number < 1 || u.Number > m.all {
			return fmt.Errorf("%w: there is no role %d, or no text %d", ErrDamaged, role, u.Number)
		}
		u.Text, u.Said, u.Score = uint64(h), Said{who[role], at.Int64, at.Valid}, m.ranked.of(u.Number)
		list = append(list, u)
		return nil
	})
	slices.SortStableFunc(list, func(a, b Use) int { return int(min(1, max(-1, a.Piece-b.Piece))) })
	return list, err
}

// The keys of a message that [Texts] and [SaidIn] read.
const (
	keyText = iota
	keySwipes
	keySwipeID
	keyIsUser
	keyIsSystem
	keyExtra
	KeyName
	KeyDate
)

// Keys returns the keys to read messages with.
func Keys() *jsonl.Keys {
	return jsonl.NewKeys("mes", "swipes", "swipe_id", "is_user", "is_system", "extra", "name", "send_date")
}

// Said is who says a message, and when.
type Said struct {
	Role  message.Who
	At    int64 // milliseconds since 1970
	Dated bool
}

// SaidIn reads who says the message of a line, and when.
func SaidIn(l *jsonl.Line) (s Said) {
	name, _ := l.Value(KeyName)
	isUser, _ := l.Value(keyIsUser)
	isSystem, _ := l.Value(keyIsSystem)
	extra, _ := l.Value(keyExtra)
	s.Role = message.Role(name, isUser, isSystem, extra)
	raw, _ := l.Value(KeyDate)
	if date, ok := sendate.ParseRaw(raw); ok {
		s.At, s.Dated = date.UnixMilli(), true
	}
	return s
}

// Text is one text of a message.
type Text struct {
	Raw    []byte // a JSON string
	Swipe  int    // its number, from 1; 0: it is none
	Chosen bool   // it is shown
}

// Texts yields the shown text of a message, and then the swipes that differ from it.
func Texts(l *jsonl.Line) iter.Seq[Text] {
	return func(yield func(Text) bool) {
		mes, _ := l.Value(keyText)
		chosen := 0
		if id, ok := l.Value(keySwipeID); ok {
			if n, ok := rawjson.Int(id); ok && n >= 0 && n < l.Count(keySwipes) {
				chosen = n + 1
			}
		}
		if rawjson.KindOf(mes) == rawjson.String && !yield(Text{mes, chosen, true}) {
			return
		}
		swipes, _ := l.Value(keySwipes)
		n := 0
		for raw := range rawjson.Elements(swipes) {
			if n++; rawjson.KindOf(raw) != rawjson.String || string(raw) == string(mes) || n == chosen && sameString(raw, mes) {
				continue
			}
			if !yield(Text{raw, n, false}) {
				return
			}
		}
	}
}

// sameString reports whether two JSON strings have the same value, however they are escaped.
func sameString(a, b []byte) bool {
	x, okX := rawjson.Unquote(a)
	y, okY := rawjson.Unquote(b)
	return okX && okY && x == y
}
