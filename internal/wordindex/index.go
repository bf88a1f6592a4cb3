// Package wordindex keeps an index of the words in a history: search.db beside it.
//
// A row of text stands for a distinct text: what a message says, or a swipe of it. use has
// its places: in which piece of the history, a line of a chat, said by whom and when. words
// is an FTS5 table of the words, without the texts. Lines that are stored in parts are not
// indexed.
//
// A query is answered from the index alone, with the result of a search that reads every
// line: both read lines and split words with the same functions. The index may be deleted
// at any time: the next search makes it again. It is also made anew if the history is
// another one or was pruned, or if the local time zone changed: dates without a zone are
// read in that.
package wordindex

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the driver

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/sqlfile"
	"stchat/internal/words"
)

// File is the index's name; it lies beside the history.
const File = "search.db"

const (
	applicationID = 0x73747378 // "stsx"
	schemaVersion = 5
)

const schema = `
CREATE TABLE meta(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE span(first INTEGER PRIMARY KEY, n INTEGER NOT NULL);
CREATE TABLE text(id INTEGER PRIMARY KEY, h INTEGER NOT NULL);
CREATE INDEX text_h ON text(h);
CREATE TABLE use(text INTEGER NOT NULL, piece INTEGER NOT NULL, swipe INTEGER NOT NULL, chosen INTEGER NOT NULL, role INTEGER NOT NULL, at INTEGER, PRIMARY KEY(text, piece, swipe)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(x, content='', contentless_delete=1, tokenize='ascii');
INSERT INTO words(words, rank) VALUES('hashsize', 4194304);
INSERT INTO meta(k, v) VALUES('version', 0), ('texts', 0), ('words', 0);
`

// Keys of the table meta.
const (
	metaHistory = "history" // its ID and generation, and the time zone
	metaVersion = "version" // the last one that was looked at
	metaTexts   = "texts"
	metaWords   = "words" // of all texts
)

// Index is an open index, up to date with its history.
type Index struct {
	*sqlfile.DB
	of string // see metaHistory
}

// Open opens the index of a history, makes it where there is none, and brings it up to date.
func Open(ctx context.Context, s *history.Store) (*Index, error) {
	path := filepath.Join(filepath.Dir(s.Path()), File)
	if _, err := sqlfile.Make(path); err != nil {
		return nil, err
	}
	if err := safefile.CheckDatabase(path); err != nil {
		return nil, err
	}
	db, err := sqlfile.Open(ctx, sqlfile.Source(path, "rw"), "busy_timeout = 5000", "trusted_schema = OFF", "cache_size = -16384", "page_size = 8192", "journal_mode = DELETE", "synchronous = NORMAL", "secure_delete = ON")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	x := &Index{DB: db}
	if err := x.begin(ctx, s); err != nil {
		_ = x.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// begin brings the index up to date, all or nothing, and begins a transaction in which all
// reads see one state of it.
func (x *Index) begin(ctx context.Context, s *history.Store) error {
	if err := x.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := x.fit(ctx, s)
	if err == nil {
		err = add(ctx, x, s, math.MaxInt64)
	}
	if err == nil { // made last, it is sorted once, which takes less than to add each place by itself
		err = x.Exec(ctx, "CREATE INDEX IF NOT EXISTS use_at ON use(at, role, chosen)")
	}
	if err == nil {
		err = x.Exec(ctx, "COMMIT")
	}
	if err != nil {
		x.Rollback(ctx)
		return err
	}
	// what was cached for adding is given back
	if err := x.Exec(ctx, "PRAGMA cache_size = -4096; PRAGMA shrink_memory; BEGIN"); err != nil {
		return err
	}
	var of string
	if err = x.Get(ctx, metaHistory, &of); err == nil && of != x.of { // another run made it anew meanwhile
		err = errors.New("is now that of another history")
	}
	return err
}

// fit makes an empty index unless there is one for this history, its generation and the time
// zone.
func (x *Index) fit(ctx context.Context, s *history.Store) error {
	var err error
	if x.of, err = ofHistory(ctx, s); err != nil {
		return err
	}
	var app, version int
	empty, err := x.IsEmpty(ctx)
	if err := errors.Join(err, x.Row(ctx, "PRAGMA application_id").Scan(&app), x.Row(ctx, "PRAGMA user_version").Scan(&version)); err != nil {
		return err
	}
	if !empty {
		if app != applicationID {
			return errors.New("not an index of stchat")
		}
		var of string
		if version == schemaVersion && x.Get(ctx, metaHistory, &of) == nil && of == x.of {
			return nil
		}
		if version > schemaVersion {
			return errors.New("was written by a newer stchat")
		}
		for _, table := range []string{"words", "use", "text", "span", "meta"} {
			if err := x.Exec(ctx, "DROP TABLE IF EXISTS "+table); err != nil {
				return err
			}
		}
	}
	if err := x.Exec(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; %s", applicationID, schemaVersion, schema)); err != nil {
		return err
	}
	return x.Exec(ctx, "INSERT INTO meta(k, v) VALUES(?, ?)", metaHistory, x.of)
}

// ofHistory names the history that an index is of, its generation, and the time zone.
func ofHistory(ctx context.Context, s *history.Store) (string, error) {
	id, err := s.ID(ctx)
	return fmt.Sprintf("%s %d %s", id, s.Generation(), zone()), err
}

// Find looks up the texts that match a query. The [Matches] are valid until the index is
// closed. The error may be a [*TooManyError].
func (x *Index) Find(ctx context.Context, w *Want) (*Matches, error) {
	m := &Matches{x: x, want: w}
	var all int64
	if err := x.Row(ctx, "SELECT (SELECT v FROM meta WHERE k = ?), (SELECT coalesce(max(id), 0) FROM text)", metaTexts).Scan(&m.all, &all); err != nil {
		return nil, err
	}
	if m.all != all {
		return nil, fmt.Errorf("%w: texts are missing", ErrDamaged)
	}
	var texts iter.Seq2[Candidate, error]
	var err error
	if w.Rank {
		m.ranked, err = rank(ctx, x, w.Query, MostRanked)
		m.Texts, texts = len(m.ranked.ids), m.ranked.texts
	} else if err = m.listTexts(ctx, MostExact); m.Texts <= MostExact {
		m.ByDate, texts = true, m.byDate(ctx)
	} else { // the last archived first
		texts = m.places(ctx, "SELECT u.text, u.at FROM words CROSS JOIN use u ON u.text = words.rowid WHERE words MATCH ? AND %s ORDER BY words.rowid DESC", w.Query.FTS())
	}
	if err != nil {
		return nil, err
	}
	m.pull, m.Close = iter.Pull2(texts)
	if err = m.advance(); err != nil {
		m.Close()
	}
	return m, err
}

func (x *Index) count(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = x.Row(ctx, query, args...).Scan(&n)
	return n, err
}

// Corpus returns what ranking by q needs to know of all indexed texts.
func (x *Index) Corpus(ctx context.Context, q *words.Query) (c Corpus, err error) {
	for k, n := range map[string]*int64{metaTexts: &c.Texts, metaWords: &c.Words} {
		if err := x.Get(ctx, k, n); err != nil {
			return c, err
		}
	}
	for _, t := range q.Terms() {
		n, err := x.count(ctx, "SELECT count(*) FROM words WHERE words MATCH ?", t.FTS())
		if err != nil {
			return c, err
		}
		c.Having = append(c.Having, n)
	}
	return c, nil
}

// zone returns the offsets of local time from UTC, in winter and in summer.
func zone() string {
	const form = "-0700"
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.Local).Format(form) + time.Date(2026, 7, 1, 0, 0, 0, 0, time.Local).Format(form)
}

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
func roles() []message.Who { return message.Roles() }

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
	if found, err := a.x.DB.Find(a.ctx, "SELECT id FROM text WHERE h = ?", h, &id); found || err != nil {
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
	err = x.Exec(ctx, "DELETE FROM span")
	for _, r := range history.Ranges(append(known, fresh...)) {
		if err == nil {
			err = x.Exec(ctx, "INSERT INTO span(first, n) VALUES(?, ?)", r.First, r.Count)
		}
	}
	if err == nil {
		err = x.Set(ctx, metaVersion, newest)
	}
	return err
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
