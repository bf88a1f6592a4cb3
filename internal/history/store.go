package history

import (
	"context"
	"io"
	"iter"
)

// Store is an open history, for use by one goroutine. What changes it as a whole are
// functions: [Prune], [Forget], [Compact], [NewMender].
type Store struct {
	db   *database
	salt []byte
	gen  int64
	dry  bool // nothing is written

	packs unpacker
}

func newStore(db *database) *Store {
	s := &Store{db: db}
	s.packs.s = s
	return s
}

// Path returns the store's path, as it was given.
func (s *Store) Path() string { return s.db.path }

// Generation returns a number that changes when piece numbers lose their meaning (see the
// package comment).
func (s *Store) Generation() int64 { return s.gen }

// ID returns the store's UUID.
func (s *Store) ID(ctx context.Context) (id string, err error) {
	err = s.db.get(ctx, metaID, &id)
	return id, s.db.wrap(err)
}

// Root returns the folder that the store belongs to, "" where there is no store.
func (s *Store) Root(ctx context.Context) (root string, err error) {
	err = s.db.get(ctx, metaRoot, &root)
	return root, s.db.wrap(err)
}

// Lines yields the lines that runs consist of, as [Version.Runs] returns them; a part of a
// run of whole lines will do as well. Each line is held in memory whole. Every piece is
// compared with its key; the error is a [LostError] if one differs.
func (s *Store) Lines(ctx context.Context, runs []Run) iter.Seq2[Line, error] {
	return lines(s.packs.pieces(ctx, runs))
}

// WriteTo writes a version's exact bytes, and compares every piece with its key and all of
// them with the version's sum: an error may be returned after all is written. w must not use
// the store.
func (s *Store) WriteTo(ctx context.Context, w io.Writer, v *Version) error {
	runs, err := v.Runs()
	if err != nil {
		return err
	}
	return writeAll(s.packs.ahead(ctx, runs), w, v)
}

// Close closes the store. What was not committed is rolled back.
func (s *Store) Close() error { return s.db.close() }

// nextPiece reads the number of the next new piece: none is used twice.
func (s *Store) nextPiece(ctx context.Context, next *int64) error {
	return s.db.row(ctx, "SELECT max(coalesce((SELECT max(first + n) FROM pack), 1), (SELECT v FROM meta WHERE k = ?))", metaFloor).Scan(next)
}
