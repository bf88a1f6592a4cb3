package history

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"stchat/internal/safefile"
	"stchat/internal/sqlfile"
)

// database is a store's file. It does not know what the tables mean.
type database struct {
	*sqlfile.DB
	path string
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

// connect opens one connection and applies its settings.
func connect(ctx context.Context, path, source string, write bool) (*database, error) {
	settings := []string{"busy_timeout = 5000", "trusted_schema = OFF", "cache_size = -4096", "temp_store = MEMORY"}
	if write { // the index of keys needs more cached pages than the packs, which are read once
		settings = append(settings, "cache_size = -8192", "page_size = 8192", "journal_mode = DELETE", "synchronous = FULL", "secure_delete = ON")
	}
	db, err := sqlfile.Open(ctx, source, settings...)
	if err != nil {
		return nil, err
	}
	return &database{db, path}, nil
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
