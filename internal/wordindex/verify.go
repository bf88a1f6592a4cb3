package wordindex

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/words"
)

// ErrDamaged means that the index contradicts itself.
var ErrDamaged = errors.New("the index of words is damaged")

// Damaged reports whether an error means that the index is damaged, and not that it cannot be
// read or written just now.
func Damaged(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return errors.Is(err, ErrDamaged)
	}
	return slices.Contains([]int{sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG}, e.Code()&0xff)
}

// Remove removes the index of a history, which the next search makes anew.
func Remove(store string) error {
	path := filepath.Join(filepath.Dir(store), File)
	return errors.Join(unlessGone(os.Remove(path)), unlessGone(os.Remove(path+"-journal")))
}

func unlessGone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Verify compares the index of a history, if it has one that fits, with the history: SQLite's
// and FTS5's own checks, and then each place of each text, and each word. It returns what is
// wrong, "" for nothing.
func Verify(ctx context.Context, s *history.Store) (wrong string, err error) {
	path := filepath.Join(filepath.Dir(s.Path()), File)
	if _, err := os.Lstat(path); err != nil || safefile.CheckDatabase(path) != nil {
		return "", nil // there is none, or none that a search would use
	}
	db, err := sql.Open("sqlite", strings.Replace(dataSource(path), "mode=rw", "mode=ro", 1))
	if err != nil {
		return "", err
	}
	x := &Index{db: db}
	if x.conn, err = db.Conn(ctx); err == nil {
		wrong, err = x.verify(ctx, s)
	}
	_ = x.Close() // only read from
	if Damaged(err) {
		wrong, err = err.Error(), nil
	}
	return wrong, err
}

func (x *Index) verify(ctx context.Context, s *history.Store) (wrong string, err error) {
	if err := x.exec(ctx, "PRAGMA busy_timeout = 5000; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY"); err != nil {
		return "", err
	}
	var said string
	if err := x.conn.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&said); err != nil || said != "ok" {
		return said, err
	}
	id, err := s.ID(ctx)
	if err != nil {
		return "", err
	}
	var of string
	var last int64
	if err := errors.Join(x.get(ctx, metaHistory, &of), x.get(ctx, metaVersion, &last)); err != nil {
		return "", err
	}
	if of != fmt.Sprintf("%s %d %s", id, s.Generation(), zone()) {
		return "", nil // the next search makes it anew
	}
	has, err := x.sums(ctx)
	if err != nil {
		return "", err
	}
	should, covers, err := x.recount(ctx, s, id, last)
	switch {
	case err != nil:
		return "", err
	case !covers:
		return "lines of the history are missing in the index", nil
	case has != should:
		return fmt.Sprintf("the index has other words or places than the history: %d texts, %d places and %d words, and it should have %d, %d and %d",
			has.texts, has.places, has.words, should.texts, should.places, should.words), nil
	}
	return "", nil
}

// sums are what an index holds, counted and summed up in any order.
type sums struct {
	texts, places, words           int64
	textSum, placeSum, wordSum     int64
	termSum                        uint64
	storedTexts, storedWords, most int64
}

// mostTerm is how many bytes of a word FTS5 keeps (FTS5_MAX_TOKEN_SIZE).
const mostTerm = 32768

// prime is below 1<<31, so that what is summed fits in 63 bits.
const prime = 2147483629

// The sums in SQL and in Go, of a text's number and hash, a place, and a word.
const (
	sumTexts  = "SELECT count(*), coalesce(sum((id * 7919 + (h & 1073741823) * 3 + (h >> 34)) % 2147483629), 0), coalesce(max(id), 0) FROM text"
	sumPlaces = "SELECT count(*), coalesce(sum((text * 7919 + piece * 104729 + swipe * 1299709 + chosen * 31 + role * 37 + coalesce(at % 1000000007, -1) * 3) % 2147483629), 0) FROM use"
	sumWords  = "SELECT count(*), coalesce(sum((doc * 7919 + offset * 104729 + unicode(term) * 31 + length(term)) % 2147483629), 0) FROM temp.instances"
)

func textSum(id, h int64) int64 { return (id*7919 + (h&1073741823)*3 + (h >> 34)) % prime }

func placeSum(text, piece int64, t *Text, said *Said) int64 {
	at := int64(-1)
	if said.Dated {
		at = said.At % 1000000007
	}
	chosen := int64(0)
	if t.Chosen {
		chosen = 1
	}
	return (text*7919 + piece*104729 + int64(t.Swipe)*1299709 + chosen*31 + int64(slices.Index(roles(), said.Role))*37 + at*3) % prime
}

func wordSum(text, offset int64, term string) int64 {
	first, _ := utf8.DecodeRuneInString(term)
	return (text*7919 + offset*104729 + int64(first)*31 + int64(utf8.RuneCountInString(term))) % prime
}

func termSum(term string, n int64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(term)) // never fails
	return h.Sum64() * uint64(n)
}

// sums counts what the index holds.
func (x *Index) sums(ctx context.Context) (s sums, err error) {
	if err := x.exec(ctx, "CREATE VIRTUAL TABLE temp.instances USING fts5vocab(main, words, instance); CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row)"); err != nil {
		return s, err
	}
	err = errors.Join(
		x.conn.QueryRowContext(ctx, sumTexts).Scan(&s.texts, &s.textSum, &s.most),
		x.conn.QueryRowContext(ctx, sumPlaces).Scan(&s.places, &s.placeSum),
		x.conn.QueryRowContext(ctx, sumWords).Scan(&s.words, &s.wordSum),
		x.get(ctx, metaTexts, &s.storedTexts), x.get(ctx, metaWords, &s.storedWords),
	)
	if err != nil {
		return s, err
	}
	rows, err := x.conn.QueryContext(ctx, "SELECT term, cnt FROM temp.terms")
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		var term string
		var n int64
		if err := rows.Scan(&term, &n); err != nil {
			return s, err
		}
		s.termSum += termSum(term, n)
	}
	return s, rows.Err()
}

// recount computes the sums from the lines of the history. covers is false if lines that were
// looked at are not said to be in the index.
func (x *Index) recount(ctx context.Context, s *history.Store, id string, last int64) (n sums, covers bool, err error) {
	spans, err := spansOf(ctx, x)
	if err != nil {
		return n, false, err
	}
	all, _, err := indexed(ctx, s, 0, last)
	if err != nil || len(history.Without(all, spans)) > 0 {
		return n, false, err
	}
	find, err := x.conn.PrepareContext(ctx, "SELECT id FROM text WHERE h = ?")
	if err != nil {
		return n, false, err
	}
	defer find.Close()
	var seen numbers
	var buf jsonl.Buffer
	keys := Keys()
	var failed error
	for line, err := range s.Lines(ctx, spans) {
		if err == nil {
			err = errors.Join(ctx.Err(), failed)
		}
		if err == nil {
			_, err = buf.Each(jsonl.Bytes(line.Data), jsonl.MapOptions{Limit: -1, Keys: keys}, func(l *jsonl.Line) {
				if l.Damage == nil {
					failed = errors.Join(failed, n.line(ctx, l, line.Piece, id, find, &seen))
				}
			})
		}
		if err != nil {
			return n, true, err
		}
	}
	n.storedTexts, n.storedWords, n.most = n.texts, n.words, n.texts
	return n, true, failed
}

// line adds the texts of a line.
func (n *sums) line(ctx context.Context, l *jsonl.Line, piece int64, id string, find *sql.Stmt, seen *numbers) error {
	said := SaidIn(l)
	for t := range Texts(l) {
		raw, ok := rawjson.Unquote(t.Raw)
		if !ok {
			continue
		}
		terms := strings.Fields(string(words.Append(nil, raw)))
		if len(terms) == 0 {
			continue
		}
		var text int64
		h := int64(Hash(id, []byte(raw)))
		if err := find.QueryRowContext(ctx, h).Scan(&text); errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%w: a text is missing", ErrDamaged)
		} else if err != nil {
			return err
		}
		n.places++
		n.placeSum += placeSum(text, piece, &t, &said)
		if text < 1 || seen.has(text) {
			continue
		}
		seen.add(text)
		n.texts++
		n.textSum += textSum(text, h)
		for i, term := range terms {
			term = term[:min(len(term), mostTerm)]
			n.words++
			n.wordSum += wordSum(text, int64(i), term)
			n.termSum += termSum(term, 1)
		}
	}
	return nil
}
