package history

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Source says where a version came from.
type Source string

// Where versions come from.
const (
	FromSnapshot Source = "snapshot"
	FromBackup   Source = "backup"  // one of SillyTavern's own
	FromRestore  Source = "restore" // kept before a restore replaced it
)

// Version is one version of a chat.
type Version struct {
	ID       int64
	Chat     int64
	Rev      int64
	At       time.Time // when it was taken; of a backup, when that was made
	Mtime    time.Time // of its file; zero where that is not known
	Size     int64
	Messages int
	Source   Source
	Note     string
	Sum      string // equal for equal contents, in one store

	runs []byte
}

// Runs returns the pieces that the version consists of. More than one for each byte, and one
// for what follows the last LF, is an error, and so is a list longer than any that was written.
func (v *Version) Runs() ([]Run, error) {
	runs, err := decodeRuns(v.runs)
	if err == nil && pieceCount(runs) > v.Size+1 {
		return nil, errRuns
	}
	return runs, err
}

// A list of pieces longer than 16 MB is damage, and is not read into memory: that of a million
// lines that lie apart takes less than half of it.
const versionColumns = "id, chat, rev, at, mtime, size, messages, source, note, sum, CASE WHEN length(runs) <= 16777216 THEN runs END"

// listVersions reads the versions that which, the end of a query, selects.
func listVersions(ctx context.Context, db *database, which string, args ...any) (list []Version, err error) {
	rows, err := db.query(ctx, "SELECT "+versionColumns+" FROM version "+which, args...)
	if err != nil {
		return nil, db.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		v, err := scanVersion(rows)
		if err != nil {
			return nil, db.wrap(err)
		}
		list = append(list, v)
	}
	return list, db.wrap(rows.Err())
}

// lastVersion reads the newest of a chat's versions; ok is false where it has none.
func lastVersion(ctx context.Context, db *database, chat int64) (v Version, ok bool, err error) {
	list, err := listVersions(ctx, db, "WHERE chat = ? ORDER BY at DESC, rev DESC LIMIT 1", chat)
	if err != nil || len(list) == 0 {
		return Version{}, false, err
	}
	return list[0], true, nil
}

// lastRuns is [Store.LastRuns].
func lastRuns(ctx context.Context, db *database, chat int64) ([]Run, error) {
	last, ok, err := lastVersion(ctx, db, chat)
	if err != nil || !ok {
		return nil, err
	}
	runs, err := last.Runs()
	if err != nil {
		return nil, nil //nolint:nilerr // verify names it
	}
	return runs, nil
}

func scanVersion(rows *sql.Rows) (v Version, err error) {
	var at, mtime int64
	var sum []byte
	err = rows.Scan(&v.ID, &v.Chat, &v.Rev, &at, &mtime, &v.Size, &v.Messages, &v.Source, &v.Note, &sum, &v.runs)
	v.At, v.Sum = time.UnixMilli(at), string(sum)
	if mtime != 0 {
		v.Mtime = time.Unix(0, mtime)
	}
	return v, err
}

const chatColumns = "id, kind, owner, name, slug, coalesce(parent, 0), coalesce(gone_at, 0)"

// listChats reads the identities that which, the end of a query, selects.
func listChats(ctx context.Context, db *database, which string, args ...any) (list []Chat, err error) {
	rows, err := db.query(ctx, "SELECT "+chatColumns+" FROM chat "+which, args...)
	if err != nil {
		return nil, db.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c Chat
		var gone int64
		if err := rows.Scan(&c.ID, &c.Kind, &c.Owner, &c.Name, &c.Slug, &c.Parent, &gone); err != nil {
			return nil, db.wrap(err)
		}
		if gone != 0 {
			c.GoneAt = time.UnixMilli(gone)
		}
		if !c.inside() {
			return nil, fmt.Errorf("%s: %w: it names a file outside of its folder, %q", db.path, ErrBroken, c.Path())
		}
		list = append(list, c)
	}
	return list, db.wrap(rows.Err())
}
