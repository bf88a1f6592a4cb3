package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/klauspost/compress/zstd"
)

// Store is an open history, for use by one goroutine. What changes it as a whole are
// functions: [Prune], [Forget], [Compact], [NewMender].
type Store struct {
	db   *database
	salt []byte
	gen  int64
	dry  bool // nothing is written

	dec   *zstd.Decoder
	packs recent // unpacked
	lists recent // with their keys alone
}

// Path returns the store's path, as it was given.
func (s *Store) Path() string { return s.db.path }

// Generation returns a number that changes when piece numbers lose their meaning (see the
// package comment).
func (s *Store) Generation() int64 { return s.gen }

// Root returns the folder that the store belongs to, "" where there is no store.
func (s *Store) Root(ctx context.Context) (root string, err error) {
	err = s.db.Get(ctx, metaRoot, &root)
	return root, s.db.wrap(err)
}

// change runs a statement that writes, unless nothing is to be written.
func (s *Store) change(ctx context.Context, query string, args ...any) error {
	if s.dry {
		return nil
	}
	return s.db.Exec(ctx, query, args...)
}

// transact runs f in a transaction: all of it takes effect, or nothing.
func (s *Store) transact(ctx context.Context, f func() error) error {
	if s.dry {
		return s.db.wrap(f())
	}
	if err := s.db.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return s.db.wrap(err)
	}
	err := f()
	if err == nil {
		err = s.db.Exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		s.db.Rollback(ctx)
	}
	return s.db.wrap(err)
}

// Close closes the store. What was not committed is rolled back.
func (s *Store) Close() error { return s.db.Close() }

// nextPiece reads the number of the next new piece: none is used twice, also where the number of pieces
// of a pack is damaged.
func (s *Store) nextPiece(ctx context.Context, next *int64) error {
	return s.db.Row(ctx, "SELECT max(coalesce((SELECT max(first + max(n + 0, length(keys) / 16)) FROM pack), 1), (SELECT v FROM meta WHERE k = ?))", metaFloor).Scan(next)
}

// The store's marks in SQLite's header: see https://www.sqlite.org/fileformat.html.
const (
	applicationID = 0x73746368 // "stch"
	schemaVersion = 2
)

// schema makes an empty store. Times are milliseconds since 1970, mtime and ctime
// nanoseconds; paths are relative to the user's folder, with slashes. A tag is the row's
// checksum.
const schema = `
CREATE TABLE meta(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE pack(first INTEGER PRIMARY KEY, n INTEGER NOT NULL, raw INTEGER NOT NULL, lens BLOB NOT NULL, keys BLOB NOT NULL, data BLOB NOT NULL);
CREATE TABLE key(k BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE run(id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, whole INTEGER NOT NULL, note TEXT NOT NULL, tag BLOB NOT NULL);
CREATE TABLE chat(id INTEGER PRIMARY KEY AUTOINCREMENT, slug TEXT NOT NULL, main TEXT NOT NULL, tag BLOB NOT NULL);
CREATE TABLE place(id INTEGER PRIMARY KEY AUTOINCREMENT, chat INTEGER NOT NULL REFERENCES chat, path TEXT NOT NULL, first INTEGER NOT NULL, until INTEGER NOT NULL, tag BLOB NOT NULL);
CREATE UNIQUE INDEX place_path ON place(path) WHERE until = 0;
CREATE UNIQUE INDEX place_chat ON place(chat) WHERE until = 0;
CREATE TABLE version(id INTEGER PRIMARY KEY AUTOINCREMENT, chat INTEGER NOT NULL REFERENCES chat, run INTEGER NOT NULL, path TEXT NOT NULL, at INTEGER NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL, messages INTEGER NOT NULL, source TEXT NOT NULL, note TEXT NOT NULL, thin INTEGER NOT NULL, sum BLOB NOT NULL, runs BLOB NOT NULL, tag BLOB NOT NULL);
CREATE INDEX version_chat ON version(chat, run);
CREATE TABLE seen(path TEXT PRIMARY KEY, version INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, racy INTEGER NOT NULL) WITHOUT ROWID;
`

// Keys of the table meta.
const (
	metaID         = "id"
	metaCreated    = "created"
	metaSalt       = "salt"
	metaRoot       = "root"
	metaDevice     = "root_dev"
	metaInode      = "root_ino"
	metaGeneration = "generation" // how often packs were rewritten
	metaFloor      = "floor"      // numbers below it were used; none is used twice
	metaDropped    = "dropped "   // and a table: how many rows prune and forget deleted
)

// What can be wrong with a store as a whole. An error names the file too.
var (
	// ErrNoStore means that there is no store yet. It is an [fs.ErrNotExist].
	ErrNoStore = error(noStore{})
	// ErrForeign means that the file is another program's, or not SQLite's.
	ErrForeign = errors.New("not a history of stchat")
	// ErrNewer means that a newer stchat made the store.
	ErrNewer = errors.New("was written by a newer stchat; this one cannot read it")
	// ErrCut means that the file ends too early.
	ErrCut = errors.New("the history is cut short: its end is missing")
	// ErrBroken means that the file's own structure is damaged.
	ErrBroken = errors.New("the history is damaged")
	// ErrBusy means that another program held the store for five seconds.
	ErrBusy = errors.New("another program is using the history")
	// ErrNoLocks means that the disk has no locks, without which two runs could damage the
	// store.
	ErrNoLocks = errors.New("the disk of the history has no locks, as some network disks")
	// ErrFull means that the disk is full. Nothing of the transaction is left.
	ErrFull = errors.New("no space left on the disk of the history")
	// ErrReadOnly means that the store cannot be written.
	ErrReadOnly = errors.New("the history cannot be written")
	// ErrOtherRoot means that the store belongs to another user's folder.
	ErrOtherRoot = errors.New("the history belongs to another folder")
	// ErrRewritten means that another run pruned the store while it, or a file for it, was read.
	ErrRewritten = errors.New("the history was pruned meanwhile; try again")
)

type noStore struct{}

func (noStore) Error() string        { return "no history is kept here yet" }
func (noStore) Is(target error) bool { return target == fs.ErrNotExist }

// LostError means that a piece cannot be read back as it was stored.
type LostError struct {
	Piece int64
	Why   string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("piece %d of the history is damaged: %s", e.Piece, e.Why)
}

// Is makes every lost piece an [ErrBroken].
func (e *LostError) Is(target error) bool { return target == ErrBroken }
