package history

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"

	"stchat/internal/safefile"
)

// database is one connection to a store's file. It knows SQLite, but not what the tables
// mean.
type database struct {
	path string
	db   *sql.DB
	conn *sql.Conn

	prepared map[string]*sql.Stmt // statements with arguments, which are run again and again
}

// examine checks a file by its 100-byte header before SQLite opens it
// (https://www.sqlite.org/fileformat.html#the_database_header): that it is a store, not cut
// short, not a newer stchat's, and on a disk with locks. It returns the size in bytes; an
// empty file is no error.
func examine(path string) (size int64, err error) {
	if safefile.CheckPlain(path) != nil {
		return 0, fmt.Errorf("%s: %w: it is not a regular file", path, ErrForeign)
	}
	if err := safefile.CheckDatabase(path); err != nil {
		return 0, err
	}
	f, err := safefile.OpenPlain(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%s: %w", path, ErrNoStore)
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if err := safefile.RecordLocks(f); err != nil {
		return 0, fmt.Errorf("%s: %w (%w)", path, ErrNoLocks, err)
	}
	if info.Size() == 0 {
		return 0, nil
	}
	var head [100]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	if n < len(head) || string(head[:16]) != "SQLite format 3\x00" || binary.BigEndian.Uint32(head[68:]) != applicationID {
		return 0, fmt.Errorf("%s: %w", path, ErrForeign)
	}
	page := int64(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 65536
	}
	pages := int64(binary.BigEndian.Uint32(head[28:]))
	if _, err := os.Stat(path + "-journal"); err != nil && pages*page > info.Size() {
		return 0, fmt.Errorf("%s: %w", path, ErrCut)
	}
	if binary.BigEndian.Uint32(head[60:]) > schemaVersion {
		return 0, fmt.Errorf("%s: %w", path, ErrNewer)
	}
	return info.Size(), nil
}

// dataSource returns the URI of a file, in which SQLite takes every character of the path
// literally.
func dataSource(path, mode string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // C:/…
	}
	u := url.URL{Path: abs}
	return "file://" + u.EscapedPath() + "?mode=" + mode
}

// A reader goes through the packs once and needs few cached pages; the index of keys, which
// a writer adds to, needs more.
const (
	readCache  = "cache_size = -4096" // KiB
	writeCache = "cache_size = -16384"
)

// longestValue is how many bytes one value of a row may have, so that a damaged or hostile
// store cannot fill the memory. The longest that is ever written are a pack's data and a list
// of pieces, a few MB each.
const longestValue = 64 << 20

// connect opens one connection and applies its settings.
func connect(ctx context.Context, path, source string, write bool) (*database, error) {
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, err
	}
	d := &database{path: path, db: db, prepared: map[string]*sql.Stmt{}}
	if d.conn, err = db.Conn(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	if _, err := sqlite.Limit(d.conn, sqlite3.SQLITE_LIMIT_LENGTH, longestValue); err != nil {
		_ = d.close()
		return nil, err
	}
	settings := []string{"busy_timeout = 5000", "trusted_schema = OFF", readCache, "temp_store = MEMORY"}
	if write {
		settings = append(settings, "page_size = 8192", "journal_mode = DELETE", "synchronous = FULL", "secure_delete = ON")
	}
	for _, set := range settings {
		if err = d.exec(ctx, "PRAGMA "+set); err != nil {
			_ = d.close()
			return nil, err
		}
	}
	if _, err := d.isEmpty(ctx); err != nil { // the first read of the file itself
		_ = d.close()
		return nil, err
	}
	return d, nil
}

// isEmpty reports whether there are no tables yet.
func (d *database) isEmpty(ctx context.Context) (bool, error) {
	var tables int
	err := d.row(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
	return tables == 0, err
}

// transact runs f in a transaction: all of it takes effect, or nothing.
func (d *database) transact(ctx context.Context, f func() error) error {
	if err := d.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return d.wrap(err)
	}
	err := f()
	if err == nil {
		err = d.exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		d.rollback(ctx)
	}
	return d.wrap(err)
}

func (d *database) rollback(ctx context.Context) {
	// where SQLite has rolled back by itself, this fails, which does not matter
	_ = d.exec(context.WithoutCancel(ctx), "ROLLBACK")
}

// get reads the value of a key in the table meta into v.
func (d *database) get(ctx context.Context, k string, v any) error {
	return d.row(ctx, "SELECT v FROM meta WHERE k = ?", k).Scan(v)
}

func (d *database) set(ctx context.Context, k string, v any) error {
	return d.exec(ctx, "INSERT INTO meta(k, v) VALUES(?, ?) ON CONFLICT DO UPDATE SET v = excluded.v", k, v)
}

func (d *database) exec(ctx context.Context, query string, args ...any) (err error) {
	if len(args) == 0 { // it may be several statements
		_, err = d.conn.ExecContext(ctx, query)
		return err
	}
	stmt, err := d.prepare(ctx, query)
	if err == nil {
		_, err = stmt.ExecContext(ctx, args...)
	}
	return err
}

func (d *database) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := d.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

func (d *database) row(ctx context.Context, query string, args ...any) *sql.Row {
	stmt, err := d.prepare(ctx, query)
	if err != nil {
		return d.conn.QueryRowContext(ctx, query, args...) // its Scan returns the error
	}
	return stmt.QueryRowContext(ctx, args...)
}

func (d *database) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := d.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := d.conn.PrepareContext(ctx, query)
	if err == nil {
		d.prepared[query] = stmt
	}
	return stmt, err
}

func (d *database) close() error {
	for _, stmt := range d.prepared {
		_ = stmt.Close() // what it did is done
	}
	return errors.Join(d.conn.Close(), d.db.Close())
}

// wrap adds the store's path to an error, and turns SQLite's codes into the package's errors.
func (d *database) wrap(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	// the low byte is the kind: https://www.sqlite.org/rescode.html
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%s: %w", d.path, ErrForeign)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("%s: %w (%w)", d.path, ErrBroken, e)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%s: %w", d.path, ErrBusy)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%s: %w", d.path, ErrFull)
	case sqlite3.SQLITE_IOERR:
		switch e.Code() {
		case sqlite3.SQLITE_IOERR_LOCK, sqlite3.SQLITE_IOERR_RDLOCK, sqlite3.SQLITE_IOERR_UNLOCK, sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK:
			return fmt.Errorf("%s: %w (%w)", d.path, ErrNoLocks, e)
		}
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%s: %w", d.path, ErrReadOnly)
	case sqlite3.SQLITE_INTERRUPT:
		return fmt.Errorf("%s: %w", d.path, context.Canceled)
	}
	return fmt.Errorf("%s: %w", d.path, e)
}

// halfDone reports whether a store cannot be read before an unfinished transaction is rolled back.
func halfDone(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code() == sqlite3.SQLITE_READONLY_ROLLBACK || e.Code() == sqlite3.SQLITE_READONLY_RECOVERY || e.Code()&0xff == sqlite3.SQLITE_CANTOPEN)
}
