package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"stchat/internal/change/safefile"
)

// Kind is the kind of file that has versions.
type Kind string

// The kinds of file.
const (
	Solo    Kind = "solo"    // a chat of a character
	Group   Kind = "group"   // a chat of a group
	File    Kind = "file"    // a chat in any other folder
	Backup  Kind = "backup"  // SillyTavern's backups of a chat that is not known
	Sidecar Kind = "sidecar" // of Luker, beside a chat
	Members Kind = "groups"  // a group's file
	World   Kind = "world"   // a lorebook
	Card    Kind = "card"    // a character
)

// IsChat reports whether files of this kind are chats.
func (k Kind) IsChat() bool {
	switch k {
	case Solo, Group, File, Backup:
		return true
	}
	return false
}

// KindOf returns the kind of the file at a path that is relative to the user's folder, with
// slashes.
func KindOf(rel string) Kind {
	owner := path.Dir(rel)
	if owner == "backups" {
		return Backup
	}
	first, rest, _ := strings.Cut(owner, "/")
	isChat := strings.EqualFold(path.Ext(rel), ".jsonl")
	if !isChat {
		return kindBeside(first)
	}
	isOwnersFolder := rest != "" && !strings.Contains(rest, "/")
	switch {
	case first == "chats" && isOwnersFolder:
		return Solo
	case owner == "group chats":
		return Group
	}
	return File
}

// kindBeside returns the kind of a file that is no chat, by its first folder.
func kindBeside(folder string) Kind {
	switch folder {
	case "groups":
		return Members
	case "worlds":
		return World
	case "characters":
		return Card
	}
	return Sidecar
}

// Label names a file for people: its folder's name and its own.
func Label(rel string) string {
	name := strings.TrimSuffix(path.Base(rel), ".jsonl")
	if owner := path.Dir(rel); owner != "." && KindOf(rel) != Backup {
		return path.Base(owner) + "/" + name
	}
	return name
}

// inside reports whether a path stays below the user's folder. Only such files are ever
// taken in.
func inside(rel string) bool {
	local := filepath.FromSlash(strings.ReplaceAll(rel, ":", "_")) // IsLocal refuses them on Windows
	isClean := rel != "." && path.Clean(rel) == rel
	isName := !strings.Contains(path.Base(rel), string(filepath.Separator))
	return isClean && isName && filepath.IsLocal(local)
}

// Snapshot is one run that found changes, or has a note.
type Snapshot struct {
	ID    int64
	At    time.Time // never before that of an earlier one
	Whole bool      // it looked at the whole folder
	Note  string

	Changed bool // its row is damaged: it does not fit its checksum
}

// Chat is a file with versions, wherever it was: a chat, or one of the files around chats.
type Chat struct {
	ID   int64
	Slug string // chat_metadata.integrity; empty if it tells nothing, as Luker's
	Main string // main_chat
	Path string // where it is, or was last
	Gone int64  // the snapshot that did not find it any more; 0: it is there

	Changed bool // as of a [Snapshot]
}

// Place says that a file was at a path from one snapshot to another, where it was no more.
type Place struct {
	ID, Chat     int64
	Path         string
	First, Until int64 // Until is 0 if it still is
	Changed      bool  // as of a [Snapshot]
}

// At reports whether the place holds after a snapshot.
func (p *Place) At(snapshot int64) bool {
	return p.First <= snapshot && (p.Until == 0 || p.Until > snapshot)
}

// Source says where a version came from.
type Source string

// Where versions come from.
const (
	FromSnapshot Source = "snapshot"
	FromBackup   Source = "backup"  // one of SillyTavern's own
	FromRestore  Source = "restore" // kept before a restore replaced it
)

// Version is one version of a file.
type Version struct {
	Rev      int64 // its number in the store, which no other version ever has
	Chat     int64
	Snapshot int64     // 0 for a backup
	Path     string    // where it was; of a backup, where that was
	At       time.Time // when it was taken; of a backup, when that was made
	Mtime    int64     // of its file, ns since 1970
	Size     int64
	Messages int
	Source   Source
	Note     string
	Thin     int64  // a later version was pruned, taken by this snapshot; 0: none
	Sum      string // equal for equal contents, in one store
	Changed  bool   // as of a [Snapshot]

	runs []byte
}

// Runs returns the pieces that the version consists of. More than one for each byte, and one
// for what follows the last LF, is an error, and so is a list longer than any that was written.
func (v *Version) Runs() ([]Run, error) {
	runs, err := decodeRuns(v.runs)
	pieces := int64(0)
	for _, r := range runs {
		pieces += r.Count
	}
	if pieces > v.Size+1 {
		return nil, errRuns
	}
	return runs, err
}

// Seen is a file as a snapshot found it.
type Seen struct {
	Rev   int64
	Size  int64
	Mtime int64 // ns since 1970
	Ctime int64 // likewise; 0 where the system has none
	Inode int64
	Racy  bool // it may have changed within the same tick of the clock
}

// SeenAs describes a file as a snapshot finds it, without a version.
func SeenAs(path string, stamp safefile.Stamp) Seen {
	_, inode, err := stamp.FileID(path)
	if err != nil {
		inode = 0
	}
	return Seen{Size: stamp.Size(), Mtime: stamp.ModTime().UnixNano(), Ctime: stamp.ChangeTime(), Inode: int64(inode)}
}

// Is reports whether a file is surely as it was found.
func (f Seen) Is(path string, stamp safefile.Stamp) bool {
	f.Rev = 0
	return f == SeenAs(path, stamp) // one that is racy differs
}

// stored is what the store has of a row, as pointers to it.
type stored struct {
	columns []any // of its table, to be read and written: its number, and the others but the tag
	more    []any // that are read with it, from other tables
	path    *string
	changed *bool
}

func (r *Snapshot) row() stored {
	return stored{columns: []any{&r.ID, milliseconds{&r.At}, &r.Whole, &r.Note}, path: new("run"), changed: &r.Changed}
}

func (c *Chat) row() stored {
	return stored{[]any{&c.ID, &c.Slug, &c.Main}, []any{&c.Path, &c.Gone}, &c.Path, &c.Changed}
}

func (p *Place) row() stored {
	return stored{[]any{&p.ID, &p.Chat, &p.Path, &p.First, &p.Until}, nil, &p.Path, &p.Changed}
}

func (v *Version) row() stored {
	values := []any{&v.Rev, &v.Chat, &v.Snapshot, &v.Path, milliseconds{&v.At}, &v.Mtime, &v.Size, &v.Messages, &v.Source, &v.Note, &v.Thin, (*blob)(&v.Sum), &v.runs}
	return stored{values, nil, &v.Path, &v.Changed}
}

// tag is the checksum of a row, which a change of the file's bytes does not fit any more. No two
// rows are written alike.
func (s *Store) tag(row interface{ row() stored }) []byte {
	h := sha256.New()
	h.Write(s.salt)
	for _, column := range row.row().columns {
		v, _ := driver.DefaultParameterConverter.ConvertValue(column) // of all these types
		if b, ok := v.([]byte); ok {
			v = string(b)
		}
		text := fmt.Sprint(v)
		h.Write(binary.AppendUvarint(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	return h.Sum(nil)[:8]
}

// aRow is a pointer to a row of any table that has tags: *T, to make rows and to call their methods.
type aRow[T any] interface {
	*T
	row() stored
}

// rows reads rows. It is an error if the path of one leads out of the user's folder.
func rows[T any, P aRow[T]](ctx context.Context, s *Store, query string, args ...any) (all []T, err error) {
	err = s.db.wrap(eachRow(ctx, s, query, args, func(row P) error {
		if path := *row.row().path; !inside(path) {
			return fmt.Errorf("%s: %w: it names a file outside of its folder, %q", s.db.path, ErrBroken, path)
		}
		all = append(all, *row)
		return nil
	}))
	return all, err
}

// eachRow calls do for each row of a query, whose last column is the row's tag: a salted hash of the
// others. A row with another tag was changed by another program, and says so in Changed.
func eachRow[T any, P aRow[T]](ctx context.Context, s *Store, query string, args []any, do func(P) error) error {
	return s.db.Each(ctx, query, args, func(scan func(...any) error) error {
		var row P = new(T)
		var tag []byte
		fields := row.row()
		columns := append(append(fields.columns, fields.more...), &tag)
		if err := scan(columns...); err != nil {
			return err
		}
		*fields.changed = !bytes.Equal(tag, s.tag(row))
		return do(row)
	})
}

const (
	snapshotsQuery = "SELECT id, at, whole, note, tag FROM run ORDER BY id"
	placesQuery    = "SELECT id, chat, path, first, until, tag FROM place ORDER BY first, id"
)

// Snapshots returns all runs that are noted, the oldest first.
func (s *Store) Snapshots(ctx context.Context) ([]Snapshot, error) {
	return rows[Snapshot](ctx, s, snapshotsQuery)
}

// Places returns all places of all files, the oldest first.
func (s *Store) Places(ctx context.Context) ([]Place, error) {
	return rows[Place](ctx, s, placesQuery)
}

// chatsQuery asks for the last place of each file. It goes through the places once, and not for each
// file again: no index leads to those of one.
const chatsQuery = `SELECT c.id, c.slug, c.main, p.path, p.until, c.tag FROM chat c
	JOIN (SELECT *, row_number() OVER (PARTITION BY chat ORDER BY until = 0 DESC, until DESC, id DESC) AS nth FROM place) p
	ON p.chat = c.id AND p.nth = 1 ORDER BY p.path, c.id`

// Chats returns all files that have versions, ordered by path, older ones first.
func (s *Store) Chats(ctx context.Context) ([]Chat, error) {
	return rows[Chat](ctx, s, chatsQuery)
}

// versions reads the versions that which, the end of a query, selects. A list of pieces longer than
// 16 MB is damage, and is not read into memory: that of a million lines that lie apart takes less
// than half of it.
func (s *Store) versions(ctx context.Context, which string, args ...any) ([]Version, error) {
	return rows[Version](ctx, s, "SELECT id, chat, run, path, at, mtime, size, messages, source, note, thin, sum, CASE WHEN length(runs) <= 16777216 THEN runs END, tag FROM version "+which, args...)
}

// Versions returns a file's versions, the oldest first.
func (s *Store) Versions(ctx context.Context, chat int64) ([]Version, error) {
	return s.versions(ctx, "WHERE chat = ? ORDER BY at, id", chat)
}

// VersionsSince returns the versions of all files that were added after the one with the
// number after, in that order.
func (s *Store) VersionsSince(ctx context.Context, after int64) ([]Version, error) {
	return s.versions(ctx, "WHERE id > ? ORDER BY id", after)
}

// Version returns the version with a number; ok is false where there is none.
func (s *Store) Version(ctx context.Context, rev int64) (v Version, ok bool, err error) {
	return first(s.versions(ctx, "WHERE id = ?", rev))
}

// Last returns what a file held after a snapshot; ok is false where no version is that old.
// Backups do not count.
func (s *Store) Last(ctx context.Context, chat, snapshot int64) (v Version, ok bool, err error) {
	return first(s.versions(ctx, "WHERE chat = ? AND run BETWEEN 1 AND ? ORDER BY run DESC, id DESC LIMIT 1", chat, snapshot))
}

// TakenBackup is the version that a backup is.
type TakenBackup struct {
	Chat int64 // whose backup it is
	Rev  int64
}

// Backups returns the backups that the store has, by the paths that they had. One that was equal to a
// version that was kept before is that version.
func (s *Store) Backups(ctx context.Context) (map[string]TakenBackup, error) {
	list, err := s.versions(ctx, "WHERE run = 0 ORDER BY id")
	if err != nil {
		return nil, err
	}
	all := make(map[string]TakenBackup, len(list))
	for _, v := range list {
		all[v.Path] = TakenBackup{v.Chat, v.Rev}
	}
	const inBackups = "s.path > 'backups/' AND s.path < 'backups0'" // '0' is what follows '/'
	equal := "SELECT s.path, v.chat, v.id FROM seen s JOIN version v ON v.id = s.version AND v.size = s.size WHERE " + inBackups
	err = s.db.Each(ctx, equal, nil, func(scan func(...any) error) error {
		var path string
		var b TakenBackup
		err := scan(&path, &b.Chat, &b.Rev)
		if err == nil {
			all[path] = b
		}
		return err
	})
	return all, s.db.wrap(err)
}

func first(all []Version, err error) (v Version, ok bool, _ error) {
	if err != nil || len(all) == 0 {
		return v, false, err
	}
	return all[0], true, nil
}

// Seen returns what snapshots found, by path.
func (s *Store) Seen(ctx context.Context) (map[string]Seen, error) {
	all := map[string]Seen{}
	err := s.db.Each(ctx, "SELECT path, version, size, mtime_ns, ctime_ns, inode, racy FROM seen", nil, func(scan func(...any) error) error {
		var p string
		var f Seen
		err := scan(&p, &f.Rev, &f.Size, &f.Mtime, &f.Ctime, &f.Inode, &f.Racy)
		all[p] = f
		return err
	})
	return all, s.db.wrap(err)
}

// State is what a store holds: a part of the document of history.
type State struct {
	Chats    int64 `json:"chats"`
	Versions int64 `json:"versions"`
	Pieces   int64 `json:"pieces"`
	Raw      int64 `json:"raw"` // bytes of all versions, as files
}

// State counts what the store holds.
func (s *Store) State(ctx context.Context) (st State, err error) {
	err = s.db.Row(ctx, `SELECT (SELECT count(*) FROM chat), (SELECT count(*) FROM version), (SELECT coalesce(sum(n), 0) FROM pack),
		(SELECT coalesce(sum(size), 0) FROM version)`).Scan(&st.Chats, &st.Versions, &st.Pieces, &st.Raw)
	return st, s.db.wrap(err)
}

// milliseconds is a column that is a time.
type milliseconds struct{ t *time.Time }

// Scan implements [sql.Scanner].
func (m milliseconds) Scan(v any) error {
	var n sql.NullInt64
	err := n.Scan(v)
	*m.t = time.UnixMilli(n.Int64)
	return err
}

// Value implements [driver.Valuer].
func (m milliseconds) Value() (driver.Value, error) { return m.t.UnixMilli(), nil }

// blob is a column of bytes.
type blob string

// Value implements [driver.Valuer].
func (b blob) Value() (driver.Value, error) { return []byte(b), nil }

// number is a column that is a number. Anything else, which is damage, is read as -1.
type number int64

// Scan implements [sql.Scanner].
func (n *number) Scan(v any) error {
	is, ok := v.(int64)
	if !ok {
		is = -1
	}
	*n = number(is)
	return nil
}
