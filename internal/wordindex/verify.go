package wordindex

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"stchat/internal/history"
	"stchat/internal/safefile"
	"stchat/internal/sqlfile"
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
func Remove(store string) (err error) {
	for _, name := range []string{File, File + "-journal"} {
		if e := os.Remove(filepath.Join(filepath.Dir(store), name)); !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// Verify compares the index of a history, if it has one that fits, with the history: SQLite's
// and FTS5's own checks, and then with an index that is made anew beside it. It returns what is
// wrong, "" for nothing.
func Verify(ctx context.Context, s *history.Store) (wrong string, err error) {
	path := filepath.Join(filepath.Dir(s.Path()), File)
	if _, err := os.Lstat(path); err != nil || safefile.CheckDatabase(path) != nil {
		return "", nil // there is none, or none that a search would use
	}
	db, err := sqlfile.Open(ctx, sqlfile.Source(path, "ro"), "busy_timeout = 5000", "trusted_schema = OFF", "temp_store = MEMORY")
	if err == nil {
		wrong, err = (&Index{DB: db}).verify(ctx, s)
		_ = db.Close() // only read from
	}
	if Damaged(err) {
		wrong, err = err.Error(), nil
	}
	return wrong, err
}

func (x *Index) verify(ctx context.Context, s *history.Store) (wrong string, err error) {
	var said string
	if err := x.Row(ctx, "PRAGMA integrity_check(1)").Scan(&said); err != nil || said != "ok" {
		return said, err
	}
	var of string
	var last int64
	if err := errors.Join(x.Get(ctx, metaHistory, &of), x.Get(ctx, metaVersion, &last)); err != nil {
		return "", err
	}
	if now, err := ofHistory(ctx, s); err != nil || now != of {
		return "", err // the next search makes it anew
	}
	has, err := x.sums(ctx)
	if err != nil {
		return "", err
	}
	db, err := sqlfile.Open(ctx, "", "page_size = 8192", "journal_mode = OFF", "synchronous = OFF") // a file of SQLite's own, which goes by itself
	if err != nil {
		return "", err
	}
	defer db.Close()
	anew := &Index{DB: db}
	if err := errors.Join(anew.Exec(ctx, "BEGIN"), anew.fit(ctx, s)); err != nil {
		return "", err
	}
	if err := add(ctx, anew, s, last); err != nil {
		return "", err
	}
	should, err := anew.sums(ctx)
	if err != nil || has == should {
		return "", err
	}
	return fmt.Sprintf("the index has other words or places than the history: %d texts, %d places and %d words, and it should have %d, %d and %d",
		has.texts, has.places, has.words, should.texts, should.places, should.words), nil
}

// sums are what an index holds, counted and summed up in any order: texts have other numbers where
// others were added first.
type sums struct {
	texts, places, words                int64
	most, storedTexts, storedWords      int64
	textSum, placeSum, wordSum, spanSum int64
	termSum                             uint64
}

// Remainders of a prime below 1<<31 can be summed up in 63 bits.
const sumAll = `SELECT (SELECT count(*) FROM text), (SELECT count(*) FROM use), (SELECT count(*) FROM temp.instances),
	(SELECT coalesce(max(id), 0) FROM text), (SELECT v FROM meta WHERE k = ?), (SELECT v FROM meta WHERE k = ?),
	(SELECT coalesce(sum(h % 2147483629), 0) FROM text),
	(SELECT coalesce(sum((h % 2147483629 * 7919 + piece * 104729 + swipe * 1299709 + chosen * 31 + role * 37 + coalesce(at % 1000000007, -1) * 3) % 2147483629), 0) FROM use JOIN text ON id = text),
	(SELECT coalesce(sum((h % 2147483629 * 7919 + offset * 104729 + unicode(term) * 31 + length(term)) % 2147483629), 0) FROM temp.instances JOIN text ON id = doc),
	(SELECT coalesce(sum((first * 7919 + n) % 2147483629), 0) FROM span)`

// sums counts what the index holds.
func (x *Index) sums(ctx context.Context) (s sums, err error) {
	if err := x.Exec(ctx, "CREATE VIRTUAL TABLE temp.instances USING fts5vocab(main, words, instance); CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row)"); err != nil {
		return s, err
	}
	err = x.Row(ctx, sumAll, metaTexts, metaWords).Scan(&s.texts, &s.places, &s.words, &s.most, &s.storedTexts, &s.storedWords, &s.textSum, &s.placeSum, &s.wordSum, &s.spanSum)
	if err != nil {
		return s, err
	}
	err = x.Each(ctx, "SELECT term, cnt FROM temp.terms", nil, func(scan func(...any) error) error {
		var term string
		var n uint64
		err := scan(&term, &n)
		h := fnv.New64a()
		_, _ = h.Write([]byte(term)) // never fails
		s.termSum += h.Sum64() * n
		return err
	})
	return s, err
}
