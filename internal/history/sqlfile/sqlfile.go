// Package sqlfile opens one SQLite file by one connection. It knows SQLite, but not what the
// tables mean.
package sqlfile

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite" // registers the driver, too
	sqlite3 "modernc.org/sqlite/lib"

	"stchat/internal/change/safefile"
)

// DB is an open file. It is for one goroutine.
type DB struct {
	db   *sql.DB
	conn *sql.Conn

	prepared map[string]*sql.Stmt // statements with arguments, which are run again and again
}

// Make creates an empty file, unless there is one: SQLite would make it readable by all. With inHome
// one that root makes belongs to the owner of its folder, and so does what SQLite makes beside it.
func Make(path string, inHome bool) (made bool, err error) {
	f, err := safefile.CreateNew(path, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if inHome {
		safefile.AdoptOwner(f)
	}
	return true, f.Close()
}

// Source returns the URI of a file, in which SQLite takes every character of the path
// literally.
func Source(path, mode string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	u := url.URL{Path: path}
	return "file://" + u.EscapedPath() + "?mode=" + mode
}

// longestValue is how many bytes one value of a row may have, so that a damaged or hostile
// file cannot fill the memory. The longest that is ever written has a few MB.
const longestValue = 64 << 20

// Open opens a file by its [Source], applies settings, and reads for the first time.
func Open(ctx context.Context, source string, settings ...string) (*DB, error) {
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, err
	}
	d := &DB{db: db, prepared: map[string]*sql.Stmt{}}
	if d.conn, err = db.Conn(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	_, err = sqlite.Limit(d.conn, sqlite3.SQLITE_LIMIT_LENGTH, longestValue)
	for _, set := range settings {
		if err == nil {
			err = d.Exec(ctx, "PRAGMA "+set)
		}
	}
	if err == nil {
		_, err = d.IsEmpty(ctx)
	}
	if err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// IsEmpty reports whether there are no tables yet.
func (d *DB) IsEmpty(ctx context.Context) (bool, error) {
	var tables int
	err := d.Row(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
	return tables == 0, err
}

// Rollback undoes a transaction.
func (d *DB) Rollback(ctx context.Context) {
	// where SQLite has rolled back by itself, this fails, which does not matter
	_ = d.Exec(context.WithoutCancel(ctx), "ROLLBACK")
}

// Get reads the value of a key in the table meta into v.
func (d *DB) Get(ctx context.Context, k string, v any) error {
	return d.Row(ctx, "SELECT v FROM meta WHERE k = ?", k).Scan(v)
}

// Set writes the value of a key in the table meta.
func (d *DB) Set(ctx context.Context, k string, v any) error {
	return d.Exec(ctx, "INSERT INTO meta(k, v) VALUES(?, ?) ON CONFLICT DO UPDATE SET v = excluded.v", k, v)
}

// Find reads a row of a query into dest, if it has any.
func (d *DB) Find(ctx context.Context, query string, arg any, dest ...any) (found bool, err error) {
	err = d.Row(ctx, query, arg).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Exec runs a statement or, without arguments, one or several.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (err error) {
	if len(args) == 0 {
		_, err = d.conn.ExecContext(ctx, query)
		return err
	}
	stmt, err := d.prepare(ctx, query)
	if err == nil {
		_, err = stmt.ExecContext(ctx, args...)
	}
	return err
}

// Insert adds a row, and returns its number. RETURNING would do so, too, but before that FTS5
// writes all that it holds.
func (d *DB) Insert(ctx context.Context, query string, args ...any) (id int64, err error) {
	stmt, err := d.prepare(ctx, query)
	if err != nil {
		return 0, err
	}
	added, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return added.LastInsertId()
}

// Each calls row for every row of a query, which it must not ask again itself. scan reads the row,
// and is valid until row returns.
func (d *DB) Each(ctx context.Context, query string, args []any, row func(scan func(...any) error) error) error {
	stmt, err := d.prepare(ctx, query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Row runs a query of one row.
func (d *DB) Row(ctx context.Context, query string, args ...any) *sql.Row {
	stmt, err := d.prepare(ctx, query)
	if err != nil {
		return d.conn.QueryRowContext(ctx, query, args...) // its Scan returns the error
	}
	return stmt.QueryRowContext(ctx, args...)
}

func (d *DB) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := d.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := d.conn.PrepareContext(ctx, query)
	if err == nil {
		d.prepared[query] = stmt
	}
	return stmt, err
}

// Close closes the file. What was not committed is rolled back.
func (d *DB) Close() error {
	for _, stmt := range d.prepared {
		_ = stmt.Close() // what it did is done
	}
	return errors.Join(d.conn.Close(), d.db.Close())
}
