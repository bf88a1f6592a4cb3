package history

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"stchat/internal/change/safefile"
	"stchat/internal/history/sqlfile"
)

// OpenRead opens a store for reading and for comparing files with it: they can be taken in, but
// nothing is written. It creates no file; without one, the error is an [ErrNoStore].
func OpenRead(ctx context.Context, path string) (*Store, error) {
	return open(ctx, path, "ro")
}

// OpenWrite opens the store of the user's folder root for writing, and creates it if there
// is none; the folder that it lies in must exist. A store of another root is refused, with
// an [ErrOtherRoot], as long as that root exists.
func OpenWrite(ctx context.Context, path, root string, now time.Time) (*Store, error) {
	made, err := sqlfile.Make(path, isIn(root, path))
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, path, "rw")
	if made && errors.Is(err, ErrNoLocks) {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		return nil, err
	}
	return s.unless(belong(ctx, s, root, now))
}

// isIn reports whether a store lies in its user's folder, whose owner then must be able to use it.
func isIn(root, path string) bool {
	root, rootErr := filepath.Abs(root)
	path, pathErr := filepath.Abs(path)
	rel, err := filepath.Rel(root, path)
	return errors.Join(rootErr, pathErr, err) == nil && filepath.IsLocal(rel)
}

// unless returns the store, or closes it for an error.
func (s *Store) unless(err error) (*Store, error) {
	if err != nil {
		_ = s.Close()
		return nil, s.db.wrap(err)
	}
	return s, nil
}

// OpenLook is [OpenRead] for a store that need not exist.
func OpenLook(ctx context.Context, path string, now time.Time) (*Store, error) {
	s, err := OpenRead(ctx, path)
	if errors.Is(err, ErrNoStore) {
		return inMemory(ctx, path, now)
	}
	return s, err
}

// OpenDry is [OpenLook] for a dry run of what needs [OpenWrite]: it refuses a store of
// another root, too.
func OpenDry(ctx context.Context, path, root string, now time.Time) (*Store, error) {
	s, err := OpenLook(ctx, path, now)
	if err != nil {
		return nil, err
	}
	return s.unless(belong(ctx, s, root, now))
}

func open(ctx context.Context, path, mode string) (*Store, error) {
	size, err := examine(path)
	if err != nil {
		return nil, err
	}
	if size == 0 && mode == "ro" {
		return nil, fmt.Errorf("%s: %w", path, ErrNoStore)
	}
	d, err := connect(ctx, path, sqlfile.Source(path, mode), mode == "rw")
	if halfDone(err) && mode == "ro" {
		// A killed run left a transaction half done. Opening for writing rolls it back.
		d, err = connect(ctx, path, sqlfile.Source(path, "rw"), true)
		if err == nil {
			_ = d.Close()
			d, err = connect(ctx, path, sqlfile.Source(path, mode), false)
		}
	}
	if err != nil {
		return nil, (&database{path: path}).wrap(err)
	}
	s := &Store{db: d, dry: mode == "ro"}
	return s.unless(load(ctx, s))
}

func inMemory(ctx context.Context, path string, now time.Time) (*Store, error) {
	d, err := connect(ctx, path, "file::memory:", false)
	if err != nil {
		return nil, err
	}
	s := &Store{db: d, dry: true}
	return s.unless(create(ctx, s, "", now))
}

// load reads the salt and generation of a store; an empty file is left to [belong].
func load(ctx context.Context, s *Store) error {
	if empty, err := s.db.IsEmpty(ctx); err != nil || empty {
		return err
	}
	if err := s.db.Get(ctx, metaSalt, &s.salt); err != nil {
		return err
	}
	return s.db.Get(ctx, metaGeneration, &s.gen)
}

func create(ctx context.Context, s *Store, root string, now time.Time) error {
	s.salt = make([]byte, 32)
	rand.Read(s.salt) // never fails
	if err := s.db.Exec(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; %s", applicationID, schemaVersion, schema)); err != nil {
		return err
	}
	device, inode := identity(root)
	s.gen = 1
	return s.set(ctx, map[string]any{
		metaID: uuid.NewString(), metaCreated: now.UnixMilli(), metaSalt: s.salt, metaGeneration: s.gen, metaFloor: int64(1),
		metaRoot: root, metaDevice: device, metaInode: inode,
	})
}

func (s *Store) set(ctx context.Context, values map[string]any) error {
	for k, v := range values {
		if err := s.db.Set(ctx, k, v); err != nil {
			return err
		}
	}
	return nil
}

// identity returns the numbers by which a folder is recognised; 0 where the system has none.
func identity(root string) (device, inode int64) {
	dev, ino, err := safefile.FileID(root)
	if err != nil {
		return 0, 0
	}
	return int64(dev), int64(ino)
}

// belong records which folder the store belongs to, in a new one, and in one that moved
// along with its folder. If it belongs to another folder that still exists, the error is an
// [ErrOtherRoot].
func belong(ctx context.Context, s *Store, root string, now time.Time) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if s.salt == nil {
		return s.transact(ctx, func() error {
			err := load(ctx, s) // another run may have been faster
			if err != nil || s.salt != nil {
				return err
			}
			return create(ctx, s, root, now)
		})
	}

	var was string
	var device, inode int64
	for k, v := range map[string]any{metaRoot: &was, metaDevice: &device, metaInode: &inode} {
		if err := s.db.Get(ctx, k, v); err != nil {
			return s.db.wrap(err)
		}
	}

	dev, ino := identity(root)
	isSameFolder := device == dev && inode == ino
	if was == "" || was == root && isSameFolder { // without a root it is in memory only
		return nil
	}
	d, i := identity(was)
	isStillThere := i != 0 && d == device && i == inode
	if was != root && isStillThere && !isSameFolder {
		return fmt.Errorf("%s: %w, %s", s.db.path, ErrOtherRoot, was)
	}
	if s.dry {
		return nil
	}
	return s.transact(ctx, func() error {
		return s.set(ctx, map[string]any{metaRoot: root, metaDevice: dev, metaInode: ino})
	})
}

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
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_ERROR: // the last: a table is not what it was made
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
