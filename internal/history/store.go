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

// Chats returns all identities, ordered by folder and name, older ones first.
func (s *Store) Chats(ctx context.Context) ([]Chat, error) {
	return listChats(ctx, s.db, "ORDER BY owner, name, id")
}

// At returns the chats that have or had the path, those that have it first. If there are
// none, it returns the one that was last seen there.
func (s *Store) At(ctx context.Context, rel string) ([]Chat, error) {
	kind, owner, name := Place(rel)
	list, err := listChats(ctx, s.db, "WHERE owner = ? AND name = ? AND kind = ? ORDER BY gone_at IS NOT NULL, id DESC", owner, name, kind)
	if err != nil || len(list) > 0 {
		return list, err
	}
	return listChats(ctx, s.db, "WHERE id = (SELECT chat FROM version WHERE id = (SELECT version FROM seen WHERE path = ?))", rel)
}

// Versions returns a chat's versions, the oldest first.
func (s *Store) Versions(ctx context.Context, chat int64) ([]Version, error) {
	return listVersions(ctx, s.db, "WHERE chat = ? ORDER BY at, rev", chat)
}

// VersionsSince returns the versions of all chats that were added after the one with the
// ID after, in that order.
func (s *Store) VersionsSince(ctx context.Context, after int64) ([]Version, error) {
	return listVersions(ctx, s.db, "WHERE id > ? ORDER BY id", after)
}

// Last returns the newest of a chat's versions; ok is false where it has none.
func (s *Store) Last(ctx context.Context, chat int64) (v Version, ok bool, err error) {
	return lastVersion(ctx, s.db, chat)
}

// LastRuns returns the runs of the newest of a chat's versions, nil where it has none, or where
// they are damaged: then nothing can be known by them.
func (s *Store) LastRuns(ctx context.Context, chat int64) ([]Run, error) {
	return lastRuns(ctx, s.db, chat)
}

// Seen returns what snapshots found, by path.
func (s *Store) Seen(ctx context.Context) (map[string]Seen, error) { return listSeen(ctx, s.db) }

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
