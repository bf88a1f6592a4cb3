package wordindex

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"slices"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
	"stchat/internal/words"
)

// Hash returns the hash of a text in the index of the history with the given ID. Nobody can
// craft two texts that share one without knowing the ID.
func Hash(id string, text []byte) uint64 {
	h := sha256.New()
	h.Write([]byte(id))
	h.Write(text)
	var sum [sha256.Size]byte
	return binary.LittleEndian.Uint64(h.Sum(sum[:0]))
}

// roles returns the roles by their numbers in use.role.
func roles() []message.Who { return []message.Who{message.User, message.Character, message.System} }

// adder puts lines into the index.
type adder struct {
	ctx  context.Context // for statements: watching each for cancellation costs more than running it
	x    *Index
	id   string // of the history
	buf  jsonl.Buffer
	keys *jsonl.Keys

	texts, words int64 // added so far
	raw, said    []byte
}

// line adds the texts of a piece that is a whole line.
func (a *adder) line(piece int64, data []byte) error {
	var failed error
	_, err := a.buf.Each(jsonl.Bytes(data), jsonl.MapOptions{Limit: -1, Keys: a.keys}, func(l *jsonl.Line) {
		if l.Damage != nil {
			return
		}
		said := SaidIn(l)
		var at any
		if said.Dated {
			at = said.At
		}
		role := slices.Index(roles(), said.Role)
		for t := range Texts(l) {
			text, err := a.text(t.Raw)
			if err == nil && text != 0 {
				err = a.x.Exec(a.ctx, "INSERT INTO use(text, piece, swipe, chosen, role, at) VALUES(?, ?, ?, ?, ?, ?)", text, piece, t.Swipe, t.Chosen, role, at)
			}
			failed = errors.Join(failed, err)
		}
	})
	return errors.Join(err, failed)
}

// text returns a text's number, and adds it where it is new; 0 where it has no word.
func (a *adder) text(raw []byte) (id int64, err error) {
	var ok bool
	if a.raw, ok = rawjson.AppendUnquoted(a.raw[:0], raw); !ok {
		return 0, nil
	}
	h := int64(Hash(a.id, a.raw))
	err = a.x.Row(a.ctx, "SELECT id FROM text WHERE h = ?", h).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	if a.said = words.Append(a.said[:0], string(a.raw)); len(a.said) == 0 {
		return 0, nil
	}
	if id, err = a.x.Insert(a.ctx, "INSERT INTO text(h) VALUES(?)", h); err != nil {
		return 0, err
	}
	a.texts++
	a.words += int64(words.Count(a.said))
	return id, a.x.Exec(a.ctx, "INSERT INTO words(rowid, x) VALUES(?, ?)", id, string(a.said))
}

// add indexes the lines of chats in the versions that are new, until one.
func add(ctx context.Context, x *Index, s *history.Store, until int64) error {
	var last int64
	if err := x.Get(ctx, metaVersion, &last); err != nil {
		return err
	}
	versions, err := s.VersionsSince(ctx, last)
	if err != nil {
		return err
	}
	var all []history.Run
	newest := last
	for i := range versions {
		v := &versions[i]
		if v.Rev > until {
			break
		}
		if newest = v.Rev; !history.KindOf(v.Path).IsChat() {
			continue
		}
		runs, err := v.Runs()
		if err != nil {
			return err
		}
		all = append(all, slices.DeleteFunc(runs, func(r history.Run) bool { return r.Part != history.Whole })...)
	}
	if newest == last {
		return nil
	}
	known, err := spansOf(ctx, x)
	if err != nil {
		return err
	}
	fresh := history.Without(all, known)
	if err := addLines(ctx, x, s, fresh); err != nil {
		return err
	}
	if err := setSpans(ctx, x, history.Ranges(append(known, fresh...))); err != nil {
		return err
	}
	return x.Exec(ctx, "UPDATE meta SET v = ? WHERE k = ?", newest, metaVersion)
}

func addLines(ctx context.Context, x *Index, s *history.Store, fresh []history.Run) error {
	id, err := s.ID(ctx)
	if err != nil {
		return err
	}
	a := &adder{ctx: context.WithoutCancel(ctx), x: x, id: id, keys: Keys()}
	for line, err := range s.Lines(ctx, fresh) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = a.line(line.Piece, line.Data)
		}
		if err != nil {
			return err
		}
	}
	for k, n := range map[string]int64{metaTexts: a.texts, metaWords: a.words} {
		if err := x.Exec(ctx, "UPDATE meta SET v = v + ? WHERE k = ?", n, k); err != nil {
			return err
		}
	}
	return nil
}

// spansOf returns the pieces that are in the index, or were looked at.
func spansOf(ctx context.Context, x *Index) (list []history.Run, err error) {
	err = x.Each(ctx, "SELECT first, n FROM span ORDER BY first", nil, func(scan func(...any) error) error {
		r := history.Run{Part: history.Whole}
		err := scan(&r.First, &r.Count)
		list = append(list, r)
		return err
	})
	return list, err
}

func setSpans(ctx context.Context, x *Index, spans []history.Run) error {
	if err := x.Exec(ctx, "DELETE FROM span"); err != nil {
		return err
	}
	for _, sp := range spans {
		if err := x.Exec(ctx, "INSERT INTO span(first, n) VALUES(?, ?)", sp.First, sp.Count); err != nil {
			return err
		}
	}
	return nil
}
