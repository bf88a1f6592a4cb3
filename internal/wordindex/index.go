// Package wordindex keeps an index of the words in a history: search.db beside it.
//
// It answers one question, which lines may hold a query, and so spares a search the lines
// that cannot. What is a hit the search decides itself, by the same code with and without
// an index: so the answers are the same. A row stands for a piece of the history, a line of
// a chat with all its swipes; lines that are stored in parts are not in it.
//
// The index may be deleted at any time: the next search makes it again. It is made anew
// where the history is another one, or was pruned.
package wordindex

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/words"
)

// File is the index's name; it lies beside the history.
const File = "search.db"

const (
	applicationID = 0x73747378 // "stsx"
	schemaVersion = 1
)

const schema = `
CREATE TABLE meta(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE span(first INTEGER PRIMARY KEY, n INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(x, content='', contentless_delete=1, tokenize='ascii');
INSERT INTO words(words, rank) VALUES('hashsize', 4194304);
`

// Most is how many lines an index names at most. A word that more have is looked for
// without it.
const Most = 200_000

// ErrTooMany says that more than [Most] lines may hold a query.
var ErrTooMany = errors.New("too many lines have this word")

// Index is an open index, up to date with its history.
type Index struct {
	db    *sql.DB
	conn  *sql.Conn
	spans []span // sorted, apart
}

// span is pieces that were indexed, or are none of a chat.
type span struct{ first, n int64 }

// Open opens the index of a history, makes it where there is none, and brings it up to date.
func Open(ctx context.Context, s *history.Store) (*Index, error) {
	path := filepath.Join(filepath.Dir(s.Path()), File)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // SQLite would make it readable for all
	if err == nil {
		err = f.Close()
	} else if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s: not a regular file", path))
	}
	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		return nil, err
	}
	x := &Index{db: db}
	if x.conn, err = db.Conn(ctx); err == nil {
		err = x.begin(ctx, s)
	}
	if err != nil {
		_ = x.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// dataSource names a file so that SQLite takes every character of it as it is.
func dataSource(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	u := url.URL{Path: path}
	return "file://" + u.EscapedPath() + "?mode=rw"
}

// Close closes the index.
func (x *Index) Close() error {
	if x.conn != nil {
		_ = x.conn.Close()
	}
	return x.db.Close()
}

func (x *Index) exec(ctx context.Context, query string, args ...any) error {
	_, err := x.conn.ExecContext(ctx, query, args...)
	return err
}

// begin brings the index up to date, all or nothing.
func (x *Index) begin(ctx context.Context, s *history.Store) error {
	for _, set := range []string{"busy_timeout = 5000", "trusted_schema = OFF", "cache_size = -16384", "page_size = 8192", "journal_mode = DELETE", "synchronous = NORMAL", "secure_delete = ON"} {
		if err := x.exec(ctx, "PRAGMA "+set); err != nil {
			return err
		}
	}
	if err := x.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := x.fit(ctx, s)
	if err == nil {
		err = x.add(ctx, s)
	}
	if err == nil {
		err = x.exec(ctx, "COMMIT")
	}
	if err != nil {
		_ = x.exec(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

// fit makes an empty index where there is none for this history as it is numbered now.
func (x *Index) fit(ctx context.Context, s *history.Store) error {
	id, err := s.ID(ctx)
	if err != nil {
		return err
	}
	id = fmt.Sprintf("%s %d", id, s.Generation())
	var app, version, tables int
	for pragma, value := range map[string]*int{"application_id": &app, "user_version": &version} {
		if err := x.conn.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(value); err != nil {
			return err
		}
	}
	if err := x.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if tables > 0 {
		if app != applicationID {
			return errors.New("not an index of stchat")
		}
		var of string
		if version == schemaVersion && x.conn.QueryRowContext(ctx, "SELECT v FROM meta WHERE k = 'history'").Scan(&of) == nil && of == id {
			return nil
		}
		if version > schemaVersion {
			return errors.New("was written by a newer stchat")
		}
		for _, table := range []string{"words", "span", "meta"} {
			if err := x.exec(ctx, "DROP TABLE IF EXISTS "+table); err != nil {
				return err
			}
		}
	}
	if err := x.exec(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; %s", applicationID, schemaVersion, schema)); err != nil {
		return err
	}
	if err := x.exec(ctx, "INSERT INTO meta(k, v) VALUES('history', ?)", id); err != nil {
		return err
	}
	return x.exec(ctx, "INSERT INTO meta(k, v) VALUES('version', 0)")
}

// add indexes the lines of the versions that are new.
func (x *Index) add(ctx context.Context, s *history.Store) error {
	if err := x.loadSpans(ctx); err != nil {
		return err
	}
	var last int64
	if err := x.conn.QueryRowContext(ctx, "SELECT v FROM meta WHERE k = 'version'").Scan(&last); err != nil {
		return err
	}
	versions, err := s.VersionsSince(ctx, last)
	if err != nil || len(versions) == 0 {
		return err
	}
	chats, err := s.Chats(ctx)
	if err != nil {
		return err
	}
	isChat := map[int64]bool{}
	for _, c := range chats {
		isChat[c.ID] = c.Kind.IsChat()
	}
	var fresh []span
	for i := range versions {
		if last = max(last, versions[i].ID); !isChat[versions[i].Chat] {
			continue
		}
		runs, err := versions[i].Runs()
		if err != nil {
			return err
		}
		for _, r := range runs {
			if r.Part == history.Whole {
				fresh = append(fresh, span{r.First, r.Count})
			}
		}
	}
	fresh = without(join(fresh), x.spans)
	insert, err := x.conn.PrepareContext(ctx, "INSERT INTO words(rowid, x) VALUES(?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	t := newTexts()
	for _, sp := range fresh {
		for line, err := range s.Lines(ctx, []history.Run{{First: sp.first, Count: sp.n, Part: history.Whole}}) {
			if err != nil {
				return err
			}
			text, err := t.of(line.Data)
			if err != nil {
				return err
			}
			if len(text) == 0 {
				continue
			}
			if _, err := insert.ExecContext(ctx, line.Piece, string(text)); err != nil {
				return err
			}
		}
	}
	x.spans = join(append(x.spans, fresh...))
	if err := x.exec(ctx, "DELETE FROM span"); err != nil {
		return err
	}
	for _, sp := range x.spans {
		if err := x.exec(ctx, "INSERT INTO span(first, n) VALUES(?, ?)", sp.first, sp.n); err != nil {
			return err
		}
	}
	return x.exec(ctx, "UPDATE meta SET v = ? WHERE k = 'version'", last)
}

func (x *Index) loadSpans(ctx context.Context) error {
	rows, err := x.conn.QueryContext(ctx, "SELECT first, n FROM span ORDER BY first")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var sp span
		if err := rows.Scan(&sp.first, &sp.n); err != nil {
			return err
		}
		x.spans = append(x.spans, sp)
	}
	return rows.Err()
}

// Lines are the pieces that may hold a query, sorted.
type Lines []int64

// Find returns the pieces in which each of the query's terms stands; what it excludes is
// not looked at. The error is [ErrTooMany] where there are more than [Most].
func (x *Index) Find(ctx context.Context, q *words.Query) (Lines, error) {
	only := words.Query{All: q.All}
	rows, err := x.conn.QueryContext(ctx, "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", only.FTS(), Most+1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var lines Lines
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		lines = append(lines, id)
	}
	if len(lines) > Most {
		return nil, ErrTooMany
	}
	slices.Sort(lines)
	return lines, rows.Err()
}

// In returns those of the lines that a run of whole lines has.
func (l Lines) In(r history.Run) Lines {
	from, _ := slices.BinarySearch(l, r.First)
	to, _ := slices.BinarySearch(l, r.First+r.Count)
	return l[from:to]
}

// texts makes of a line the words of its texts.
type texts struct {
	buf       jsonl.Buffer
	keys      *jsonl.Keys
	raw, said []byte
}

func newTexts() *texts { return &texts{keys: jsonl.NewKeys("mes", "swipes")} }

// of returns the words of a message's text and of all its swipes.
func (t *texts) of(line []byte) ([]byte, error) {
	t.said = t.said[:0]
	add := func(raw []byte) {
		if rawjson.KindOf(raw) == rawjson.String {
			t.raw, _ = rawjson.AppendUnquoted(t.raw[:0], raw)
			t.said = words.Append(t.said, string(t.raw))
		}
	}
	_, err := t.buf.Each(jsonl.Bytes(line), jsonl.MapOptions{Limit: -1, Keys: t.keys}, func(l *jsonl.Line) {
		if l.Damage != nil {
			return
		}
		mes, _ := l.Value(0)
		add(mes)
		swipes, _ := l.Value(1)
		for raw := range rawjson.Elements(swipes) {
			if string(raw) != string(mes) {
				add(raw)
			}
		}
	})
	return t.said, err
}

// join sorts spans and joins those that touch.
func join(spans []span) (joined []span) {
	slices.SortFunc(spans, func(a, b span) int { return int(min(1, max(-1, a.first-b.first))) })
	for _, sp := range spans {
		if n := len(joined); n > 0 && sp.first <= joined[n-1].first+joined[n-1].n {
			joined[n-1].n = max(joined[n-1].n, sp.first+sp.n-joined[n-1].first)
			continue
		}
		joined = append(joined, sp)
	}
	return joined
}

// without returns what is in spans and not in known, both joined.
func without(spans, known []span) (rest []span) {
	for _, sp := range spans {
		for _, k := range known {
			if k.first+k.n <= sp.first || k.first >= sp.first+sp.n {
				continue
			}
			if k.first > sp.first {
				rest = append(rest, span{sp.first, k.first - sp.first})
			}
			end := sp.first + sp.n
			sp.first = min(k.first+k.n, end)
			sp.n = end - sp.first
		}
		if sp.n > 0 {
			rest = append(rest, sp)
		}
	}
	return rest
}
