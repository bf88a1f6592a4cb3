package history

import (
	"context"
	"crypto/rand"
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
	"time"

	"github.com/google/uuid"
	_ "modernc.org/sqlite" // the driver

	"stchat/internal/safefile"
)

// Store is an open history. It is for one goroutine.
type Store struct {
	path string
	db   *sql.DB
	conn *sql.Conn
	salt []byte
	gen  int64
	dry  bool // nothing is written

	packs packCache
}

// OpenRead opens a store to read from it. It makes no file.
func OpenRead(ctx context.Context, path string) (*Store, error) {
	return open(ctx, path, "ro")
}

// OpenWrite opens the store of the user's folder root, and makes it where there is none:
// the folder that it lies in must exist. A store of another root is refused as long as
// that one exists.
func OpenWrite(ctx context.Context, path, root string, now time.Time) (*Store, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // SQLite would make it readable for all
	switch {
	case err == nil:
		if err := f.Close(); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	s, err := open(ctx, path, "rw")
	if err != nil {
		return nil, err
	}
	if err := s.belong(ctx, root, now); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// OpenLook opens a store to read from it, and to compare files with what it has: they can
// be taken in, and leave no trace. There need be no store.
func OpenLook(ctx context.Context, path string, now time.Time) (*Store, error) {
	s, err := open(ctx, path, "ro")
	if errors.Is(err, ErrNoStore) {
		s, err = connect(ctx, path, "file::memory:", false)
		if err == nil {
			err = s.create(ctx, "", now)
		}
	}
	if err != nil {
		return nil, err
	}
	s.dry = true
	return s, nil
}

// OpenDry is OpenLook for a rehearsal of what OpenWrite is opened for.
func OpenDry(ctx context.Context, path, root string, now time.Time) (*Store, error) {
	s, err := OpenLook(ctx, path, now)
	if err != nil {
		return nil, err
	}
	if err := s.belong(ctx, root, now); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func open(ctx context.Context, path, mode string) (*Store, error) {
	size, err := examine(path)
	if err != nil {
		return nil, err
	}
	if size == 0 && mode == "ro" {
		return nil, fmt.Errorf("%s: %w", path, ErrNoStore)
	}
	s, err := connect(ctx, path, dataSource(path, mode), mode == "rw")
	if halfDone(err) && mode == "ro" {
		// A run that was killed left a transaction half done. Opening to write takes it back.
		if s, err = connect(ctx, path, dataSource(path, "rw"), true); err == nil {
			_ = s.Close()
			s, err = connect(ctx, path, dataSource(path, mode), false)
		}
	}
	if err != nil {
		return nil, (&Store{path: path}).told(err)
	}
	if err := s.load(ctx); err != nil {
		_ = s.Close()
		return nil, s.told(err)
	}
	return s, nil
}

// examine looks at the file before SQLite does: which program's it is, by the header of
// 100 bytes that begins it (https://www.sqlite.org/fileformat.html#the_database_header),
// and whether its end is there.
func examine(path string) (size int64, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("%s: %w", path, ErrNoStore)
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s: %w: it is no regular file", path, ErrForeign)
	case info.Size() == 0:
		return 0, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
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

// dataSource names a file so that SQLite takes every character of it as it is.
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

// connect opens one connection, with the settings that every one has.
func connect(ctx context.Context, path, source string, write bool) (*Store, error) {
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, db: db}
	s.conn, err = db.Conn(ctx)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	settings := []string{"busy_timeout = 5000", "trusted_schema = OFF", "cache_size = -16384", "temp_store = MEMORY"}
	if write {
		settings = append(settings, "page_size = 8192", "journal_mode = DELETE", "synchronous = FULL", "secure_delete = ON")
	}
	for _, set := range settings {
		if err = s.exec(ctx, "PRAGMA "+set); err != nil {
			_ = s.Close()
			return nil, err
		}
	}
	var tables int
	if err := s.row(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// load reads what every use needs of an existing store.
func (s *Store) load(ctx context.Context) error {
	var tables int
	if err := s.row(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables == 0 {
		return err // belong makes an empty file a store
	}
	if err := s.row(ctx, "SELECT v FROM meta WHERE k = ?", metaSalt).Scan(&s.salt); err != nil {
		return err
	}
	return s.row(ctx, "SELECT v FROM meta WHERE k = ?", metaGeneration).Scan(&s.gen)
}

// create makes an empty database a store.
func (s *Store) create(ctx context.Context, root string, now time.Time) error {
	s.salt = make([]byte, 32)
	rand.Read(s.salt) // never fails
	if err := s.exec(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; %s", applicationID, schemaVersion, schema)); err != nil {
		return err
	}
	device, inode := identity(root)
	for k, v := range map[string]any{
		metaID: uuid.NewString(), metaCreated: now.UnixMilli(), metaSalt: s.salt, metaGeneration: int64(1), metaFloor: int64(1),
		metaRoot: root, metaDevice: device, metaInode: inode,
	} {
		if err := s.setMeta(ctx, k, v); err != nil {
			return err
		}
	}
	s.gen = 1
	return nil
}

// identity is how a folder is known again; 0 where the system has no numbers.
func identity(root string) (device, inode int64) {
	dev, ino, err := safefile.FileID(root)
	if err != nil {
		return 0, 0
	}
	return int64(dev), int64(ino)
}

// belong notes which folder the store belongs to, in a new one, and in one that moved
// along with its folder; one of another folder that still exists is an [ErrOtherRoot].
func (s *Store) belong(ctx context.Context, root string, now time.Time) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if s.salt == nil {
		return s.transact(ctx, func() error {
			err := s.load(ctx) // another run may have been faster
			if err != nil || s.salt != nil {
				return err
			}
			return s.create(ctx, root, now)
		})
	}
	var was string
	var device, inode int64
	for k, v := range map[string]any{metaRoot: &was, metaDevice: &device, metaInode: &inode} {
		if err := s.row(ctx, "SELECT v FROM meta WHERE k = ?", k).Scan(v); err != nil {
			return s.told(err)
		}
	}
	dev, ino := identity(root)
	if was == root && device == dev && inode == ino {
		return nil
	}
	if was == "" {
		return nil // it is in memory alone
	}
	if d, i := identity(was); was != root && i != 0 && d == device && i == inode && (d != dev || i != ino) {
		return fmt.Errorf("%s: %w, %s", s.path, ErrOtherRoot, was)
	}
	if s.dry {
		return nil
	}
	return s.transact(ctx, func() error {
		for k, v := range map[string]any{metaRoot: root, metaDevice: dev, metaInode: ino} {
			if err := s.setMeta(ctx, k, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// transact does all of f, or nothing.
func (s *Store) transact(ctx context.Context, f func() error) error {
	if err := s.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return s.told(err)
	}
	err := f()
	if err == nil {
		err = s.exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		// where SQLite has taken it back itself, this is an error of no interest
		_ = s.exec(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return s.told(err)
}

func (s *Store) setMeta(ctx context.Context, k string, v any) error {
	return s.exec(ctx, "INSERT INTO meta(k, v) VALUES(?, ?) ON CONFLICT DO UPDATE SET v = excluded.v", k, v)
}

func (s *Store) exec(ctx context.Context, query string, args ...any) error {
	_, err := s.conn.ExecContext(ctx, query, args...)
	return err
}

func (s *Store) row(ctx context.Context, query string, args ...any) *sql.Row {
	return s.conn.QueryRowContext(ctx, query, args...)
}

// Path is where the store lies, as it was given.
func (s *Store) Path() string { return s.path }

// Generation changes when numbers of pieces lose their meaning (see the package comment).
func (s *Store) Generation() int64 { return s.gen }

// Close closes the store. What was not committed is taken back.
func (s *Store) Close() error {
	return errors.Join(s.conn.Close(), s.db.Close())
}
